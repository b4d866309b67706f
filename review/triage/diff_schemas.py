"""Shape of the difference between two reviews."""

from __future__ import annotations

from pydantic import BaseModel, Field

from review.runs.finding_schemas import FindingOut


class MovedOut(FindingOut):
    """A finding of the current review that stands in another section than before."""

    base_finding_id: str
    base_section_path: list[str]


class DiffSideOut(BaseModel):
    review_id: str
    version: int
    checklist_version: int
    verdict: str | None


class DiffOut(BaseModel):
    """What became of the base review's findings; each finding of both reviews stands in one list."""

    base: DiffSideOut
    current: DiffSideOut
    fixed: list[FindingOut] = Field(description="of the base review, no longer found")
    new: list[FindingOut] = Field(description="of the current review, not found before")
    open: list[FindingOut] = Field(description="of the current review, found before as well")
    moved: list[MovedOut] = Field(description="the same, but in another section")
    undecided: list[FindingOut] = Field(
        description="of the base review, whose check the current review did not decide: nobody knows"
    )
