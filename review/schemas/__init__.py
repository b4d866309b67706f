"""Shapes of the review app that callers rely on; REST, MCP, CLI and reports show the same."""

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
    EvidenceOut,
    FindingOut,
    LocationOut,
    ResultEvidenceOut,
    ResultOut,
    ReviewOut,
    ReviewRowOut,
    SuggestionOut,
    SummaryOut,
    UsageOut,
    review_out,
    review_row_out,
)

__all__ = [
    "CheckItemOut",
    "ChecklistOut",
    "ChecklistRef",
    "ChecklistVersionOut",
    "EvidenceOut",
    "FindingOut",
    "LocationOut",
    "ResultEvidenceOut",
    "ResultOut",
    "ReviewOut",
    "ReviewRowOut",
    "SuggestionOut",
    "SummaryOut",
    "UsageOut",
    "check_item_out",
    "checklist_out",
    "checklist_version_out",
    "review_out",
    "review_row_out",
]
