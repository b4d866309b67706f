"""The review app's tables, by subject."""

from review.models.mappings import GuidelineMapping, MappingRelation, ReviewEdition, SuspectMark
from review.models.masters import (
    CheckItem,
    CheckItemVersion,
    CheckList,
    CheckListEntry,
    CheckListVersion,
    CheckType,
    JudgePrompt,
    MasterStatus,
    Priority,
    PromptKind,
    Strategy,
)
from review.models.reviews import (
    COUNTED,
    COUNTED_STATES,
    SEVERITIES,
    UNFINISHED,
    VERDICTS,
    CarryMark,
    CheckResult,
    ConcealedTexts,
    Finding,
    FindingState,
    ModelSuggestion,
    RelatedVersion,
    Review,
    ReviewQuerySet,
    ReviewStatus,
    Suggestion,
    Triage,
)
from review.models.scenarios import Scenario, ScenarioProgress, ScenarioRole, ScenarioStep, StepPage, StepProof
from review.models.triage import EventKind, FindingAnswer, FindingEvent, ResultDecision, Signature
