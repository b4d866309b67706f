"""The review app's tables, by subject."""

from review.models.mappings import GuidelineMapping, MappingRelation, ReviewEdition, SuspectMark
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
from review.models.prompts import JudgePrompt, PromptKind, PromptStatus
from review.models.related import RelatedVersion
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
    "GuidelineMapping",
    "JudgePrompt",
    "MappingRelation",
    "MasterStatus",
    "Priority",
    "PromptKind",
    "PromptStatus",
    "RelatedVersion",
    "Review",
    "ReviewEdition",
    "ReviewQuerySet",
    "ReviewStatus",
    "Strategy",
    "Suggestion",
    "SuspectMark",
]
