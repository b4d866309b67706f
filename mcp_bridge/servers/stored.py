"""What resources/list has beside the fixed resources: the newest reviews, and the documents page by page."""

from __future__ import annotations

from django.db.models import Count, Max
from django.utils.timezone import localtime
from mcp.types import Resource

from hub.access.principals import Principal, Scope
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from knowledge.models import Document
from knowledge.services import reading
from mcp_bridge import uris
from mcp_bridge.caller import current_caller
from mcp_bridge.lists import PAGE_SIZE
from mcp_bridge.threads import in_thread
from review import services
from review.models import Review

JSON = "application/json"
REVIEWS_LISTED = 20  # older ones are found through their document, with list_documents


async def list_stored(cursor: str | None) -> KeysetPage[Resource]:
    """A page of what the running call's caller may read, so that hosts can offer it.

    First the newest reviews, on the first page; then the documents, newest first.
    """
    principal = current_caller().principal
    if not principal.allows(Scope.READ):
        return KeysetPage(items=[], next_cursor=None)
    return await in_thread(_page, principal, cursor)


def _page(principal: Principal, cursor: str | None) -> KeysetPage[Resource]:
    scope = cursor_scope("mcp.resources")
    page = paginate_keyset(reading.list_documents(principal), limit=PAGE_SIZE, cursor=cursor, scope=scope)
    documents = page.map(_document_resource)
    if cursor:
        return documents
    reviews = services.list_reviews(principal).select_related("version__document")[:REVIEWS_LISTED]
    return KeysetPage(items=[*map(_review_resource, reviews), *documents.items], next_cursor=documents.next_cursor)


def _document_resource(document: Document) -> Resource:
    return Resource(
        uri=uris.DOCUMENTS + document.public_id,
        name=document.path,
        title=document.title or document.path,
        description=f"文書 (document) in {document.collection.slug}",
        mime_type=JSON,
    )


def _review_resource(review: Review) -> Resource:
    document = review.version.document if review.version else None
    path = document.path if document else review.document_id_text
    about = f"{localtime(review.created_at):%Y-%m-%d %H:%M}, {review.verdict or review.status}"
    return Resource(
        uri=uris.RESULTS + review.public_id,
        name=review.public_id,
        title=f"{(document.title if document else None) or path} ({about})",
        description=f"レビュー結果 (review) of {path} by {review.checklist_version.checklist.code}",
        mime_type=JSON,
    )


async def state_of_stored(principal: Principal) -> object:
    """Something that differs when the caller's list has changed."""
    return await in_thread(_state, principal) if principal.allows(Scope.READ) else None


def _state(principal: Principal) -> tuple[object, ...]:
    documents = reading.list_documents(principal).aggregate(count=Count("pk"), newest=Max("pk"))
    newest = services.list_reviews(principal).values_list("pk", flat=True).first()
    return documents["count"], documents["newest"], newest
