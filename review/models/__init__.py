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
    STANDING,
    UNFINISHED,
    VERDICTS,
    CheckResult,
    Finding,
    Review,
    ReviewQuerySet,
    ReviewStatus,
    Suggestion,
    Triage,
)
from review.models.triage import EventKind, FindingAnswer, FindingEvent, ResultDecision, Signature

__all__ = [
    "SEVERITIES",
    "STANDING",
    "UNFINISHED",
    "VERDICTS",
    "CheckItem",
    "CheckItemVersion",
    "CheckList",
    "CheckListEntry",
    "CheckListVersion",
    "CheckResult",
    "CheckType",
    "EventKind",
    "Finding",
    "FindingAnswer",
    "FindingEvent",
    "GuidelineMapping",
    "JudgePrompt",
    "MappingRelation",
    "MasterStatus",
    "Priority",
    "PromptKind",
    "PromptStatus",
    "RelatedVersion",
    "ResultDecision",
    "Review",
    "ReviewEdition",
    "ReviewQuerySet",
    "ReviewStatus",
    "Signature",
    "Strategy",
    "Suggestion",
    "SuspectMark",
    "Triage",
]
