"""The review app's tables, by subject."""

from review.models.masters import (
    CheckItem,
    CheckItemVersion,
    CheckList,
    CheckListEntry,
    CheckListVersion,
    CheckType,
    MasterStatus,
    Priority,
    Strategy,
)
from review.models.reviews import (
    SEVERITIES,
    UNFINISHED,
    VERDICTS,
    CheckResult,
    Finding,
    Review,
    ReviewQuerySet,
    ReviewStatus,
    Suggestion,
)

__all__ = [
    "SEVERITIES",
    "UNFINISHED",
    "VERDICTS",
    "CheckItem",
    "CheckItemVersion",
    "CheckList",
    "CheckListEntry",
    "CheckListVersion",
    "CheckResult",
    "CheckType",
    "Finding",
    "MasterStatus",
    "Priority",
    "Review",
    "ReviewQuerySet",
    "ReviewStatus",
    "Strategy",
    "Suggestion",
]
