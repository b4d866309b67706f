"""REST calls about documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Annotated, Any, cast

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from ninja import Field, File, Form, Query, Router, Schema, Status, UploadedFile

from hub.core.bounds import GIVEN_JSON
from hub.core.errors import InvalidInput
from hub.rest.auth import HubRequest
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from hub.rest.responses import accepted, attachment, created
from hub.rest.schemas import Integer, LongText, Page, PageQuery, ShortText
from hub.rest.uploads import ReceivedFile, received_file
from knowledge import collections as collection_services
from knowledge.documents import archives, deletion, editing, reading, reindexing, uploads
from knowledge.documents import documents as document_services
from knowledge.documents.anonymising import read_anonymising
from knowledge.documents.chunking import recut_collection
from knowledge.documents.reading import describe_figure_again, figure_filename, open_figure
from knowledge.documents.reindexing import MOST_AT_ONCE, retry_documents, retry_failed, retry_unread
from knowledge.documents.schemas import (
    ArchiveFileOut,
    ArchiveOut,
    ChunkOut,
    DeletionReceiptOut,
    DocumentOut,
    StructureOut,
    UploadOut,
    VersionOut,
    chunk_out,
    document_out,
    receipt_out,
    upload_out,
    version_out,
)
from knowledge.models.uploads import LONGEST_BATCH_NAME
from knowledge.originals import searchable_pdf
from knowledge.types.anonymising import KINDS, LONGEST_FIELD, MOST_FIELDS
from knowledge.types.chunks import ChunkOptions, ChunkStrategy, SizeUnit

router = Router()


class RetryIn(Schema):
    """Which documents: those named, or those of a collection that failed."""

    document_ids: list[ShortText] = Field(default_factory=list, max_length=MOST_AT_ONCE)
    collection: ShortText = Field("", description="its failed documents, 200 at most; call again while there are more")
    needs_ocr: bool = Field(False, description="of the collection: those that need OCR instead, once it is installed")
    cut_otherwise: bool = Field(False, description="of the collection: those cut otherwise than it says instead")


class RefusedOut(Schema):
    document_id: str
    code: str
    detail: str


class RetriedOut(Schema):
    started: list[str] = Field(description="ids of the documents that are worked on again")
    refused: list[RefusedOut]


# Its fixed address comes before those with a document's id.
@router.post("/documents/retry", response={202: RetriedOut})
def retry(request: HubRequest, asked: RetryIn) -> HttpResponse:
    """Work on several documents again, or on all that failed in a collection; what is refused is told one by one."""
    if bool(asked.document_ids) == bool(asked.collection):
        raise InvalidInput(_("Give either document_ids or a collection."), field="document_ids")
    principal = request.principal
    if asked.collection:
        retried = retry_unread if asked.needs_ocr else recut_collection if asked.cut_otherwise else retry_failed
        done = retried(principal=principal, collection=asked.collection)
    else:
        done = retry_documents(principal=principal, document_ids=asked.document_ids)
    return accepted(request, location="/api/v1/jobs", body=retried_out(done))


def retried_out(done: document_services.DoneToEach) -> RetriedOut:
    """Show what is worked on again, and what was refused."""
    refused = [RefusedOut(document_id=one, code=error.error_code, detail=str(error)) for one, error in done.refused]
    return RetriedOut(started=list(done.done), refused=refused)


@router.post("/documents/{document_id}/ocr/cancel", response=DocumentOut)
def cancel_ocr(request: HubRequest, document_id: str) -> DocumentOut:
    """Stop reading the document's pages with OCR; it goes on with those that were read."""
    done = reindexing.cancel_reading(principal=request.principal, document_id=document_id)
    return document_out(document_services.get_document(request.principal, done.public_id))


READ_BLOCK = 256 * 1024


class UploadIn(Schema):
    """What a caller says of a file. Empty values mean: not said."""

    collection: str = Field(collection_services.DEFAULT_COLLECTION, max_length=63)
    path: str = Field("", max_length=1000, description="default: the file's name")
    document_type: str = Field("", max_length=40)
    title: str = Field("", max_length=500)
    classification: str = Field("", max_length=10, description="c1, c2 or c3; default: the collection's")
    metadata: str = Field("", max_length=GIVEN_JSON.size_bytes, description="a JSON object")
    chunk_strategy: str = Field("", max_length=20, description="section, fixed or semantic")
    chunk_size: Integer | None = None
    chunk_overlap: Integer | None = None
    chunk_unit: str = Field("", max_length=20, description="tokens or characters")
    batch: str = Field("", max_length=LONGEST_BATCH_NAME, description="your name for files that belong together")
    replace: bool = Field(False, description="take over a path of another uploader (curators)")
    anonymise_kinds: str = Field(
        "", max_length=200, description=f"replace these before anything is stored: {', '.join(KINDS)}; with commas"
    )
    anonymise_fields: str = Field(
        "", max_length=MOST_FIELDS * (LONGEST_FIELD + 1), description="replace the values of these fields; with commas"
    )


class ReindexIn(Schema):
    chunk_strategy: ShortText = ""
    chunk_size: Integer | None = None
    chunk_overlap: Integer | None = None
    chunk_unit: ShortText = ""


class DocumentPatch(Schema):
    """What is named changes; the rest stays."""

    title: LongText | None = None
    document_type: ShortText | None = None
    metadata: dict[str, Any] | None = Field(None, max_length=GIVEN_JSON.entries)
    classification: ShortText | None = Field(None, description="c1, c2 or c3")
    collection: ShortText | None = Field(None, description="the slug of one that you may upload to")
    legal_hold: LongText | None = Field(None, description="the reason; an empty one lifts the hold (curators)")


class DocumentQuery(Schema):
    collection: ShortText = ""
    status: ShortText = ""
    document_type: ShortText = ""
    path_prefix: str = Field("", max_length=uploads.MAX_PATH)
    q: str = Field("", max_length=uploads.MAX_PATH, description="part of the title or path")


@router.post("/documents", response={201: UploadOut, 202: UploadOut, 200: UploadOut})
def upload_document(
    request: HubRequest, file: Annotated[UploadedFile, File()], fields: Annotated[UploadIn, Form()]
) -> HttpResponse | Status[UploadOut]:
    """Take a file in. 202: work on it goes on, poll Location; 200: these bytes are already there, nothing changed."""
    with received_file(file) as received:
        upload = _upload(received, fields)
        archives.refuse_archive(received.path, received.filename)
        done = uploads.create_document(principal=request.principal, upload=upload)
    document = document_services.get_document(request.principal, done.document.public_id)
    body = upload_out(document, outcome=done.outcome, same_content_as=done.same_content_as, anonymised=done.anonymised)
    location = f"/api/v1/documents/{document.public_id}"
    if done.outcome == "unchanged":
        return Status(200, body)
    finished = body.status in {"ready", "needs_ocr", "failed"}
    return (created if finished else accepted)(request, location=location, body=body)


@router.post("/documents/archive", response={202: ArchiveOut})
def upload_archive(
    request: HubRequest, file: Annotated[UploadedFile, File()], fields: Annotated[UploadIn, Form()]
) -> Status[ArchiveOut]:
    """Take in each document of a zip, or a mail (eml, msg) with what is attached; ``path`` is the folder for them.

    202 also when some are refused: each has its own outcome or reason. The zip itself is not stored, and archives
    inside it stay closed.
    """
    with received_file(file) as received:
        taken = archives.take_in_archive(principal=request.principal, upload=_upload(received, fields))
    return Status(
        202, ArchiveOut(kind=taken.kind, left_out=taken.left_out, files=list(map(_archive_file, taken.files)))
    )


def _archive_file(taken: archives.TakenIn) -> ArchiveFileOut:
    done, error = taken.outcome, taken.error
    return ArchiveFileOut(
        name=taken.name,
        outcome=done.outcome if done else "refused",
        document_id=done.document.public_id if done else None,
        path=done.document.path if done else None,
        same_content_as=done.same_content_as if done else None,
        anonymised=done.anonymised if done else None,
        code=error.error_code if error else None,
        detail=str(error) if error else None,
    )


def _upload(received: ReceivedFile, fields: UploadIn) -> uploads.Upload:
    """What a caller says of a file that was received."""
    return uploads.Upload(
        file=received.path,
        filename=received.filename,
        sha256=received.sha256,
        size_bytes=received.size_bytes,
        path=fields.path,
        collection=fields.collection,
        document_type=fields.document_type,
        title=fields.title,
        classification=collection_services.read_classification(fields.classification),
        metadata=editing.read_metadata(fields.metadata),
        chunk_options=_chunk_options(fields),
        replace=fields.replace,
        batch=fields.batch,
        anonymise=read_anonymising(fields.anonymise_kinds.split(","), fields.anonymise_fields.split(",")),
    )


def _chunk_options(fields: UploadIn | ReindexIn) -> ChunkOptions | None:
    """None when the caller says nothing about chunking; what they leave out has its default."""
    if not (fields.chunk_strategy or fields.chunk_unit or fields.chunk_size or fields.chunk_overlap is not None):
        return None
    default = ChunkOptions()
    try:
        strategy = ChunkStrategy(fields.chunk_strategy or default.strategy)
        unit = SizeUnit(fields.chunk_unit or default.unit)
    except ValueError as error:
        raise InvalidInput(
            _("{reason}: chunk_strategy is one of {strategies}, chunk_unit one of {units}."),
            field="chunk_strategy",
            reason=str(error),
            strategies=", ".join(ChunkStrategy),
            units=", ".join(SizeUnit),
        ) from error
    size = fields.chunk_size or default.size
    overlap = fields.chunk_overlap if fields.chunk_overlap is not None else min(default.overlap, size // 4)
    return ChunkOptions(strategy=strategy, size=size, overlap=overlap, unit=unit)


@router.get("/documents", response=Page[DocumentOut])
def list_documents(
    request: HubRequest, filters: Annotated[DocumentQuery, Query()], page: Annotated[PageQuery, Query()]
) -> KeysetPage[DocumentOut]:
    """List documents, newest first."""
    given = filters.model_dump(exclude={"q"})
    documents = reading.list_documents(request.principal, query=filters.q, **given)
    scope = cursor_scope("documents", filters)
    return paginate_keyset(documents, limit=page.limit, cursor=page.cursor, scope=scope).map(document_out)


@router.get("/documents/{document_id}", response=DocumentOut)
def get_document(request: HubRequest, document_id: str) -> DocumentOut:
    """One document and how far the work on it has come."""
    return document_out(document_services.get_document(request.principal, document_id))


@router.patch("/documents/{document_id}", response=DocumentOut)
def update_document(request: HubRequest, document_id: str, fields: DocumentPatch) -> DocumentOut:
    """Change title, type, metadata, classification or collection, or set or lift a legal hold."""
    changes = fields.model_dump(exclude_none=True)
    if "classification" in changes:
        changes["classification"] = collection_services.read_classification(changes["classification"] or "c0")
    document = editing.update_document(
        principal=request.principal, document_id=document_id, **cast(editing.DocumentChanges, changes)
    )
    return document_out(document)


@router.get("/documents/{document_id}/versions", response=list[VersionOut])
def list_document_versions(request: HubRequest, document_id: str) -> list[VersionOut]:
    """The versions of a document, newest first."""
    document, versions = reading.list_versions(request.principal, document_id)
    return [version_out(version, document) for version in versions]


@router.get("/documents/{document_id}/chunks", response=Page[ChunkOut])
def list_document_chunks(
    request: HubRequest, document_id: str, page: Annotated[PageQuery, Query()]
) -> KeysetPage[ChunkOut]:
    """The passages of a document, in its order."""
    chunks = reading.list_chunks(request.principal, document_id)
    scope = cursor_scope("chunks", document=document_id)
    return paginate_keyset(chunks, limit=page.limit, cursor=page.cursor, scope=scope, order="index").map(chunk_out)


@router.get("/documents/{document_id}/structure", response=StructureOut)
def get_document_structure(request: HubRequest, document_id: str) -> StructureOut:
    """Sections as a tree, the table of contents, figures and tables."""
    return reading.get_structure(request.principal, document_id)


@router.get("/documents/{document_id}/content")
def get_document_content(request: HubRequest, document_id: str) -> HttpResponse:
    """The stored Markdown: what every offset refers to."""
    text = reading.get_markdown(request.principal, document_id)
    return HttpResponse(text.encode(), content_type="text/markdown; charset=utf-8")


@router.get("/documents/{document_id}/file")
def get_document_file(request: HubRequest, document_id: str) -> HttpResponseBase:
    """The original file of the latest version."""
    version, file = reading.open_original(request.principal, document_id)
    return attachment(request, _blocks(file), filename=version.filename, content_type="application/octet-stream")


@router.get("/documents/{document_id}/searchable-pdf")
def get_searchable_pdf(request: HubRequest, document_id: str) -> HttpResponseBase:
    """A scanned document as a PDF with what OCR read as text that is not seen: to be searched and copied."""
    name, content = searchable_pdf(request.principal, document_id)
    return attachment(request, iter([content]), filename=name, content_type="application/pdf")


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while block := file.read(READ_BLOCK):
            yield block


@router.get("/documents/{document_id}/figures/{figure_id}")
def get_document_figure(request: HubRequest, document_id: str, figure_id: str) -> HttpResponseBase:
    """One picture of the document, as a file to save."""
    figure, file = open_figure(request.principal, document_id, figure_id)
    return attachment(request, _blocks(file), filename=figure_filename(figure), content_type=figure.media_type)


@router.post("/documents/{document_id}/figures/{figure_id}/describe", response={202: StructureOut})
def describe_document_figure(request: HubRequest, document_id: str, figure_id: str) -> HttpResponse:
    """Have a language model describe one picture, again where it was or could not be; needs HUB_DESCRIBE_FIGURES."""
    describe_figure_again(principal=request.principal, document_id=document_id, figure_id=figure_id)
    structure = reading.get_structure(request.principal, document_id)
    return accepted(request, location=f"/api/v1/documents/{document_id}/structure", body=structure)


@router.post("/documents/{document_id}/reindex", response={202: DocumentOut})
def reindex_document(request: HubRequest, document_id: str, options: ReindexIn | None = None) -> HttpResponse:
    """Parse, chunk and embed the latest version again; search answers from what it has until that is done."""
    document = reindexing.reindex_document(
        principal=request.principal,
        document_id=document_id,
        chunk_options=_chunk_options(options) if options else None,
    )
    return accepted(request, location=f"/api/v1/documents/{document_id}", body=document_out(document))


@router.delete("/documents/{document_id}", response=DeletionReceiptOut)
def delete_document(request: HubRequest, document_id: str) -> DeletionReceiptOut:
    """Delete a document with all its versions; answers with the deletion receipt."""
    return receipt_out(deletion.delete_document(principal=request.principal, document_id=document_id))
