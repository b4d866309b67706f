"""Shapes of the review app that callers rely on; REST, MCP, CLI and reports show the same."""

from review.schemas.diffs import DiffOut, DiffSideOut, MovedOut
from review.schemas.findings import (
    AnswerOut,
    EvidenceOut,
    FindingOut,
    LocationOut,
    SuggestionOut,
    finding_out,
    suggestion_label,
)
from review.schemas.masters import (
    CheckItemOut,
    ChecklistOut,
    ChecklistVersionOut,
    check_item_out,
    checklist_out,
    checklist_version_out,
)
from review.schemas.reviews import (
    ChecklistRef,
    DecisionOut,
    ResultEvidenceOut,
    ResultOut,
    ReviewOut,
    ReviewRowOut,
    SignatureOut,
    SummaryOut,
    UsageOut,
    review_out,
    review_row_out,
)
from review.schemas.triage import BlockerOut, CarryOut, HistoryLineOut, SignOffOut, history_line_out

__all__ = [
    "AnswerOut",
    "BlockerOut",
    "CarryOut",
    "CheckItemOut",
    "ChecklistOut",
    "ChecklistRef",
    "ChecklistVersionOut",
    "DecisionOut",
    "DiffOut",
    "DiffSideOut",
    "EvidenceOut",
    "FindingOut",
    "HistoryLineOut",
    "LocationOut",
    "MovedOut",
    "ResultEvidenceOut",
    "ResultOut",
    "ReviewOut",
    "ReviewRowOut",
    "SignOffOut",
    "SignatureOut",
    "SuggestionOut",
    "SummaryOut",
    "UsageOut",
    "check_item_out",
    "checklist_out",
    "checklist_version_out",
    "finding_out",
    "history_line_out",
    "review_out",
    "review_row_out",
    "suggestion_label",
]
