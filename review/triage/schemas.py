"""Shapes of what people say of a review: the history of findings, signing off, carrying over, what changed."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from hub.core.shapes import TextOrNone, filled
from review.models import FindingEvent
from review.runs.finding_schemas import FindingOut
from review.runs.schemas import SignatureOut


class HistoryLineOut(BaseModel):
    """Who changed what of a finding.

    ``kind`` is triage, comment, assign, due, answer, carry (from an earlier review) or reopen (a waiver has ended).
    """

    kind: str
    before: TextOrNone
    after: TextOrNone
    text: TextOrNone
    origin: TextOrNone = Field(description="the earlier review's finding that the line was carried over from")
    expires_at: datetime | None
    by: str
    changed_at: datetime


class BlockerOut(BaseModel):
    code: str = Field(description="unfinished, error, skipped, unverified or critical")
    message: str
    check_item_id: TextOrNone
    finding_id: TextOrNone


class SignOffOut(BaseModel):
    """How far a review is from being signed off."""

    review_id: str
    verdict: TextOrNone
    signed: bool
    signed_at: datetime | None
    revision: int = Field(
        description="of the result, as you may see it; it grows with every change, and what was seen is signed with it"
    )
    signatures_needed: int
    signatures: list[SignatureOut] = Field(description="those that count")
    signatures_void: list[SignatureOut] = Field(
        description="where two people sign, those that do not count: who gave them may not sign the review (any more)"
    )
    blocking: list[BlockerOut]


class CarryOut(BaseModel):
    """What carrying over did to the findings of a review, and of the earlier one."""

    review_id: str
    base_review_id: str
    carried: int = Field(description="findings that took over something: a decision, an assignee, comments")
    moved: int = Field(description="of these, found in another section: decided as before, and marked")
    changed: int = Field(description="of these, with other evidence: rejecting and waiving are left to decide anew")
    reopened: int = Field(
        description="of these, open although they were decided: fixed, a waiver that ended, other evidence"
    )
    closed: int = Field(description="findings of the earlier review that are gone now, and were set to fixed there")


def history_line_out(event: FindingEvent) -> HistoryLineOut:
    """Show one line of a finding's history."""
    return filled(HistoryLineOut, event, by=event.actor_name, changed_at=event.at)


class MovedOut(FindingOut):
    """A finding of the current review that stands in another section than before."""

    base_finding_id: str
    base_section_path: list[str]


class DiffSideOut(BaseModel):
    review_id: str
    version: int
    checklist_version: int
    verdict: TextOrNone


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
