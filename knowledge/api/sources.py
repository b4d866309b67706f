"""REST calls about watched sources and the work under way."""

from __future__ import annotations

from typing import Annotated, cast
from urllib.parse import quote

from django.http import HttpResponse
from ninja import Field, Query, Router, Schema, Status

from hub.core.languages import shown
from hub.core.shapes import filled
from hub.rest.auth import HubRequest
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from hub.rest.responses import accepted, created
from hub.rest.schemas import Integer, LongText, Page, PageQuery, ShortText
from knowledge.api.batches import UndoneOut, undone_out
from knowledge.collections import DEFAULT_COLLECTION
from knowledge.documents import batches, source_previews, sources, workers
from knowledge.documents.source_schemas import (
    JobOut,
    ScanFailureOut,
    SourceOut,
    document_job,
    source_job,
    source_out,
)
from knowledge.models import Source
from knowledge.types.chunks import ChunkOptions, ChunkStrategy, SizeUnit

router = Router(tags=["sources"])


class ChunkingIn(Schema):
    strategy: ChunkStrategy = ChunkStrategy.SECTION
    size: Integer = 512
    overlap: Integer = 50
    unit: SizeUnit = SizeUnit.TOKENS

    def options(self) -> ChunkOptions:
        return ChunkOptions(**self.model_dump())


class SourceIn(Schema):
    name: ShortText
    kind: ShortText = Field("folder", description="folder or s3")
    location: LongText = Field(description="an absolute folder, or s3://bucket/prefix")
    collection: ShortText = DEFAULT_COLLECTION
    chunking: ChunkingIn | None = Field(None, description="default: as the embedding set does")
    enabled: bool = True
    scan_every_minutes: Integer = Field(15, ge=1)


class PreviewIn(Schema):
    kind: ShortText = Field("folder", description="folder or s3")
    location: LongText = Field(description="an absolute folder, or s3://bucket/prefix")
    collection: ShortText = DEFAULT_COLLECTION


class DocumentOfOthersOut(Schema):
    path: str
    document_id: str
    owner: str | None = Field(description="user name of who uploaded it; null: another source holds it")


class ScanEffectsOut(Schema):
    """What a scan would do, of documents that the caller may see; lists are the first 50."""

    new: int = Field(description="files that would be new documents")
    changed: int = Field(
        description="files that would be new versions, or bring a document back, as far as can be told"
    )
    unchanged: int
    left_alone: int = Field(description="files at paths of documents that people uploaded or another source holds")
    others: list[DocumentOfOthersOut] = Field(description="these documents")
    gone: int = Field(description="documents that came from there before, whose file is gone: they would be retired")
    gone_paths: list[str]


class SourcePreviewOut(Schema):
    """In numbers of files; lists are the first 50."""

    location: str
    files: int
    size_bytes: int
    endings: dict[str, int] = Field(description="by the end of the name, the commonest first")
    too_large: int = Field(description="above HUB_MAX_UPLOAD_BYTES, which would be refused")
    names: list[str]
    unreadable: list[ScanFailureOut] = Field(description="places that can't be looked into; nothing is retired then")
    effects: ScanEffectsOut


class UndoIn(Schema):
    scan: ShortText = Field(description="which scan is meant: `report.undo.scan` of the source as it was looked at")


class SourcePatch(Schema):
    """What is named changes; the rest stays. ``chunking: null`` is the embedding set's way."""

    location: LongText = ""
    chunking: ChunkingIn | None = None
    enabled: bool = True
    scan_every_minutes: Integer = Field(15, ge=1)


@router.get("/sources", response=Page[SourceOut])
def list_sources(request: HubRequest, page: Annotated[PageQuery, Query()]) -> KeysetPage[SourceOut]:
    """The sources of the collections that the caller curates, by name."""
    visible = sources.visible_sources(request.principal)
    scope = cursor_scope("sources")
    return paginate_keyset(visible, limit=page.limit, cursor=page.cursor, scope=scope, order="name").map(source_out)


@router.post("/sources", response={201: SourceOut})
def create_source(request: HubRequest, fields: SourceIn) -> HttpResponse:
    """Watch a folder or bucket (administrators); the first scan starts at once."""
    source = sources.create_source(
        principal=request.principal,
        chunk_options=fields.chunking.options() if fields.chunking else None,
        **fields.model_dump(exclude={"chunking"}),
    )
    return created(request, location=_address(source), body=source_out(source))


def _address(source: Source) -> str:
    return f"/api/v1/sources/{quote(source.name, safe='')}"


@router.post("/sources/preview", response=SourcePreviewOut)
def preview_source(request: HubRequest, fields: PreviewIn) -> SourcePreviewOut:
    """What a first scan of a folder or bucket would go through, counted and named, and do to which documents; nothing
    is read or kept.
    """
    preview = source_previews.preview_source(principal=request.principal, **fields.model_dump())
    unreadable = [ScanFailureOut(path=path, reason=shown(why)) for path, why in preview.unreadable]
    others = [
        filled(
            DocumentOfOthersOut, one, document_id=one.public_id, owner=one.owner.get_username() if one.owner else None
        )
        for one in preview.effects.others
    ]
    effects = filled(ScanEffectsOut, preview.effects, others=others)
    return filled(SourcePreviewOut, preview, unreadable=unreadable, effects=effects)


@router.get("/sources/{name}", response=SourceOut)
def get_source(request: HubRequest, name: str) -> SourceOut:
    """One source and the report of its last scan."""
    return source_out(sources.get_source(request.principal, name))


@router.patch("/sources/{name}", response=SourceOut)
def update_source(request: HubRequest, name: str, fields: SourcePatch) -> SourceOut:
    """Change what is named (administrators); the documents follow their source to a new location."""
    changes = fields.model_dump(exclude_unset=True, exclude={"chunking"})
    if "chunking" in fields.model_fields_set:
        changes["chunk_options"] = fields.chunking.options() if fields.chunking else None
    source = sources.update_source(principal=request.principal, name=name, **cast(sources.SourceChanges, changes))
    return source_out(source)


@router.delete("/sources/{name}", response={204: None})
def delete_source(request: HubRequest, name: str) -> Status[None]:
    """Watch it no longer (administrators); its documents stay."""
    sources.delete_source(principal=request.principal, name=name)
    return Status(204, None)


@router.post("/sources/{name}/scan", response={202: SourceOut})
def scan_source(request: HubRequest, name: str) -> HttpResponse:
    """Scan a source now; poll Location for its report."""
    source: Source = sources.request_scan(principal=request.principal, name=name)
    return accepted(request, location=_address(source), body=source_out(source))


@router.post("/sources/{name}/undo", response=UndoneOut)
def undo_scan(request: HubRequest, name: str, fields: UndoIn) -> UndoneOut:
    """Take back what the last scan that took something in took in, and switch the source off (administrators); call
    again while ``left``. If another scan than the named one is by now the last such, nothing happens (409
    ``scanned_meanwhile``).
    """
    return undone_out(batches.undo_scan(request.principal, name, scan=fields.scan))


@router.get("/jobs", response=Page[JobOut])
def list_jobs(request: HubRequest, page: Annotated[PageQuery, Query()]) -> KeysetPage[JobOut]:
    """Scans and documents that are worked on or wait for it: scans first, then documents, the newest first."""
    in_work = workers.versions_in_work(request.principal)
    documents = paginate_keyset(in_work, limit=page.limit, cursor=page.cursor, scope=cursor_scope("jobs"))
    listed = documents.map(document_job)
    if page.cursor is not None:
        return listed
    scans = [source_job(source) for source in workers.scans_in_work(request.principal)]
    return KeysetPage(items=[*scans, *listed.items], next_cursor=listed.next_cursor)
