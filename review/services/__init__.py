"""What may be done with check masters and reviews."""

from review.services.carry_over import CarryOffer, carry_offer, carry_triage
from review.services.comparing import Comparison, compare_reviews, difference
from review.services.estimates import ReviewEstimate, estimate_review
from review.services.lint import MAX_CHARACTERS, TextFormat, lint_text
from review.services.masters import (
    list_check_items,
    list_checklist_versions,
    list_checklists,
)
from review.services.prompts import (
    Trial,
    draft_prompt,
    get_prompt,
    list_prompts,
    publish_prompt,
    save_prompt_draft,
    try_prompt,
)
from review.services.replays import replay_review
from review.services.reviews import (
    JUDGES,
    SUGGESTION_LEVELS,
    ReviewOptions,
    cancel_review,
    get_review,
    list_reviews,
    ordered_findings,
    show_findings,
    show_review,
    start_review,
    wait_for_review,
)
from review.services.signing import SignOffState, show_sign_off, sign_off, sign_off_state
from review.services.text_rules import describe_rules
from review.services.triage import (
    Answer,
    TriageChange,
    finding_history,
    reopen_expired_waivers,
    triage_finding,
    triage_findings,
)
from review.services.verdicts import decide_result

__all__ = [
    "JUDGES",
    "MAX_CHARACTERS",
    "SUGGESTION_LEVELS",
    "Answer",
    "CarryOffer",
    "Comparison",
    "ReviewEstimate",
    "ReviewOptions",
    "SignOffState",
    "TextFormat",
    "TriageChange",
    "Trial",
    "cancel_review",
    "carry_offer",
    "carry_triage",
    "compare_reviews",
    "decide_result",
    "describe_rules",
    "difference",
    "draft_prompt",
    "estimate_review",
    "finding_history",
    "get_prompt",
    "get_review",
    "lint_text",
    "list_check_items",
    "list_checklist_versions",
    "list_checklists",
    "list_prompts",
    "list_reviews",
    "ordered_findings",
    "publish_prompt",
    "reopen_expired_waivers",
    "replay_review",
    "save_prompt_draft",
    "show_findings",
    "show_review",
    "show_sign_off",
    "sign_off",
    "sign_off_state",
    "start_review",
    "triage_finding",
    "triage_findings",
    "try_prompt",
    "wait_for_review",
]
