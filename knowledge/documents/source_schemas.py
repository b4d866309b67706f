"""The shapes of watched sources and of the work under way."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.core.languages import in_language
from hub.core.shapes import filled
from knowledge.models import DocumentVersion, Source

TAKEN_BACK = "taken_back"
"""The state in the report of a scan that was undone."""


class ChunkingOut(BaseModel):
    strategy: str
    size: int
    overlap: int
    unit: str


class ScanFailureOut(BaseModel):
    path: str
    reason: str


class ScanUndoOut(BaseModel):
    """The last scan that took something in, which can be taken back."""

    scan: str = Field(description="its id, by which an undo says which scan is meant")
    at: datetime = Field(description="when it ended; of one under way, when it last said how far it is")
    new: int
    changed: int


class ScanReportOut(BaseModel):
    """What the last scan did, in numbers of files; of one under way, what it has done so far."""

    scan: str | None = Field(description="which scan it was; null: of an older version of the hub")
    state: str = Field(description="running, completed, failed, or taken_back: undone as one")
    reason: str | None = Field(description="why the scan as a whole failed; nothing was retired then")
    new: int
    changed: int
    unchanged: int
    removed: int
    failed: int
    failures: list[ScanFailureOut] = Field(description="the first 100 files that were not taken in, and why")
    seconds: float
    undo: ScanUndoOut | None = Field(
        description="which scan an undo takes back: this one, or one before it when this one took nothing in"
    )


class SourceOut(BaseModel):
    name: str
    kind: str = Field(description="folder or s3")
    location: str
    collection: str
    chunking: ChunkingOut | None = Field(description="null: as the embedding set does by default")
    enabled: bool
    scan_every_minutes: int
    scanned_at: datetime | None = Field(description="end of the last scan; null: one is due now")
    report: ScanReportOut | None


class JobOut(BaseModel):
    """Something that is worked on, or waits for it."""

    kind: str = Field(description="document or source")
    id: str = Field(description="of the document, or the source's name")
    title: str
    collection: str
    status: str
    progress: int | None = Field(description="0 to 100; null where it can't be told")
    attempts: int | None
    since: datetime | None = Field(description="when it was queued")


def source_out(source: Source) -> SourceOut:
    """Expects collection and policy to be selected."""
    return filled(
        SourceOut,
        source,
        collection=source.collection.slug,
        chunking=source.policy,
        report=scan_report_out(source.report),
    )


def scan_report_out(facts: dict[str, Any]) -> ScanReportOut | None:
    """A stored report in the active language; None before the first scan."""
    if "state" not in facts:
        return None
    reason = in_language("reason_ja", "reason_en")
    return ScanReportOut(
        **{name: facts[name] for name in ("state", "new", "changed", "unchanged", "removed", "failed", "seconds")},
        scan=facts.get("batch") or None,
        reason=facts.get(reason) or None,
        failures=[ScanFailureOut(path=failure["path"], reason=failure[reason]) for failure in facts["failures"]],
        undo=scan_undo_out(facts),
    )


def scan_undo_out(facts: dict[str, Any]) -> ScanUndoOut | None:
    """The scan that a stored report says can be taken back; None when none took anything in, or it was taken back."""
    undo = facts.get("undo", {})
    if not undo or undo.get("taken_back"):
        return None
    return ScanUndoOut(scan=undo["batch"], at=undo["at"], new=undo["new"], changed=undo["changed"])


def source_job(source: Source) -> JobOut:
    return JobOut(
        kind="source",
        id=source.name,
        title=source.name,
        collection=source.collection.slug,
        status=source.report.get("state", "queued") if source.scanned_at else "queued",
        progress=None,
        attempts=None,
        since=source.scanned_at,
    )


def document_job(version: DocumentVersion) -> JobOut:
    """Expects document__collection to be selected."""
    return filled(
        JobOut,
        version,
        kind="document",
        id=version.document.public_id,
        title=version.document.title,
        collection=version.document.collection.slug,
        since=version.queued_at,
    )
