"""What may be done with check masters and reviews."""

from review.services.masters import (
    list_check_items,
    list_checklist_versions,
    list_checklists,
)
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

__all__ = [
    "JUDGES",
    "SUGGESTION_LEVELS",
    "ReviewOptions",
    "cancel_review",
    "get_review",
    "list_check_items",
    "list_checklist_versions",
    "list_checklists",
    "list_reviews",
    "ordered_findings",
    "start_review",
    "wait_for_review",
]
