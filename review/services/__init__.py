"""What may be done with check masters and reviews."""

from review.services.estimates import ReviewEstimate, estimate_review
from review.services.lint import MAX_CHARACTERS, TextFormat, lint_text
from review.services.masters import (
    list_check_items,
    list_checklist_versions,
    list_checklists,
)
from review.services.prompts import Trial, publish_prompt, try_prompt
from review.services.replays import replay_review
from review.services.reviews import (
    JUDGES,
    SUGGESTION_LEVELS,
    ReviewOptions,
    cancel_review,
    get_review,
    list_reviews,
    ordered_findings,
    start_review,
    wait_for_review,
)
from review.services.text_rules import describe_rules

__all__ = [
    "JUDGES",
    "MAX_CHARACTERS",
    "SUGGESTION_LEVELS",
    "ReviewEstimate",
    "ReviewOptions",
    "TextFormat",
    "Trial",
    "cancel_review",
    "describe_rules",
    "estimate_review",
    "get_review",
    "lint_text",
    "list_check_items",
    "list_checklist_versions",
    "list_checklists",
    "list_reviews",
    "ordered_findings",
    "publish_prompt",
    "replay_review",
    "start_review",
    "try_prompt",
    "wait_for_review",
]
