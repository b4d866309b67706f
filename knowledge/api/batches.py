"""REST calls about batches: files that came in together, as `batch` of `POST /documents` names them."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpResponse
from ninja import Field, Path, Query, Router, Schema

from hub.rest.auth import HubRequest
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from hub.rest.responses import accepted
from hub.rest.schemas import Page, PageQuery
from knowledge.api.documents import RetriedOut, retried_out
from knowledge.documents import batches
from knowledge.documents.schemas import DocumentOut, document_out
from knowledge.models.uploads import LONGEST_BATCH_NAME

router = Router()
Name = Annotated[str, Path(max_length=LONGEST_BATCH_NAME, description="the caller's own name for the batch")]


class BatchOut(Schema):
    """How many documents of a batch are in which state."""

    name: str
    in_work: int
    ready: int
    needs_ocr: int
    failed: int
    retired: int


class RefusedPathOut(Schema):
    path: str
    code: str
    detail: str


class UndoneOut(Schema):
    """What became of the documents of a batch that was taken back, by their paths."""

    deleted: list[str] = Field(description="came new with the batch, and are gone")
    restored: list[str] = Field(description="have the content from before the batch again, as a new version")
    refused: list[RefusedPathOut]
    left: int = Field(description="more than are taken back at once: call again")


@router.get("/batches/{name}", response=BatchOut)
def get_batch(request: HubRequest, name: Name) -> BatchOut:
    """How far the documents of the caller's batch are."""
    return BatchOut(name=name, **batches.batch_counts(request.principal, name))


@router.get("/batches/{name}/documents", response=Page[DocumentOut])
def list_batch_documents(
    request: HubRequest, name: Name, page: Annotated[PageQuery, Query()]
) -> KeysetPage[DocumentOut]:
    """The documents of the caller's batch, in the order of the uploads."""
    documents = batches.batch_documents(request.principal, name)
    scope = cursor_scope("batch", batch=name)
    paged = paginate_keyset(documents, limit=page.limit, cursor=page.cursor, scope=scope, order="id")
    return paged.map(document_out)


@router.post("/batches/{name}/retry", response={202: RetriedOut})
def retry_batch(request: HubRequest, name: Name) -> HttpResponse:
    """Work on what failed of the batch again, up to 200 documents; what is refused is told one by one."""
    done = batches.retry_batch(request.principal, name)
    return accepted(request, location=f"/api/v1/batches/{name}", body=retried_out(done))


@router.post("/batches/{name}/undo", response=UndoneOut)
def undo_batch(request: HubRequest, name: Name) -> UndoneOut:
    """Take a batch back: documents that it made are deleted, others get the content of before as a new version. What
    somebody uploaded since stays and is refused.
    """
    return undone_out(batches.undo_batch(request.principal, name))


def undone_out(done: batches.Undone) -> UndoneOut:
    refused = [RefusedPathOut(path=path, code=error.error_code, detail=str(error)) for path, error in done.refused]
    return UndoneOut(deleted=list(done.deleted), restored=list(done.restored), refused=refused, left=done.left)
