"""The REST call that works on several documents again."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from ninja import Field, Router, Schema

from hub.core.errors import InvalidInput
from hub.rest.auth import HubRequest
from hub.rest.responses import accepted
from hub.rest.schemas import ShortText
from knowledge.documents.retries import MOST_AT_ONCE, retry_documents, retry_failed

router = Router()


class RetryIn(Schema):
    """Which documents: those named, or those of a collection that failed."""

    document_ids: list[ShortText] = Field(default_factory=list, max_length=MOST_AT_ONCE)
    collection: ShortText = Field("", description="its failed documents, 200 at most; call again while there are more")


class RefusedOut(Schema):
    document_id: str
    code: str
    detail: str


class RetriedOut(Schema):
    started: list[str] = Field(description="ids of the documents that are worked on again")
    refused: list[RefusedOut]


@router.post("/documents/retry", response={202: RetriedOut})
def retry(request: HubRequest, asked: RetryIn) -> HttpResponse:
    """Work on several documents again, or on all that failed in a collection; what is refused is told one by one."""
    if bool(asked.document_ids) == bool(asked.collection):
        raise InvalidInput(_("Give either document_ids or a collection."), field="document_ids")
    principal = request.principal
    if asked.collection:
        done = retry_failed(principal=principal, collection=asked.collection)
    else:
        done = retry_documents(principal=principal, document_ids=asked.document_ids)
    refused = [RefusedOut(document_id=one, code=error.error_code, detail=str(error)) for one, error in done.refused]
    body = RetriedOut(started=list(done.started), refused=refused)
    return accepted(request, location="/api/v1/jobs", body=body)
