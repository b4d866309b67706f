"""What resources/list has beside the fixed resources: the newest reviews, the documents, the earlier reviews."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Count, Max, Model, QuerySet
from django.utils.timezone import localtime
from mcp.types import Resource

from hub.access.principals import Principal, Scope
from hub.rest.pagination import KeysetPage, cursor_scope, decode_cursor, encode_cursor
from knowledge.documents import reading
from knowledge.models import Document
from mcp_bridge import uris
from mcp_bridge.caller import current_caller
from mcp_bridge.lists import PAGE_SIZE
from mcp_bridge.threads import in_thread
from review.models import Review
from review.runs.reviews import list_reviews

M = TypeVar("M", bound=Model)
JSON = "application/json"
NEWEST_REVIEWS = 20  # before the documents, for hosts that read one page only
SCOPE = cursor_scope("mcp.resources")


async def list_stored(cursor: str | None) -> KeysetPage[Resource]:
    """A page of what the running call's caller may read, so that hosts can offer it.

    First the newest reviews, on the first page; then the documents, then the earlier reviews, each newest first.
    """
    principal = current_caller().principal
    if not principal.allows(Scope.READ):
        return KeysetPage(items=[], next_cursor=None)
    return await in_thread(_page, principal, cursor)


def _page(principal: Principal, cursor: str | None) -> KeysetPage[Resource]:
    """Cursors tell the list that a page goes on with, and behind which row of it."""
    at = decode_cursor(cursor, scope=SCOPE) if cursor else None
    if at is None:
        newest, earlier = _take(_reviews(principal), behind=None, limit=NEWEST_REVIEWS)
        page = _documents_page(principal, behind=None, earlier=earlier)
        return KeysetPage(items=[*map(_review_resource, newest), *page.items], next_cursor=page.next_cursor)
    if at["of"] == "documents":
        return _documents_page(principal, behind=at["behind"], earlier=at["earlier"])
    reviews, following = _take(_reviews(principal), behind=at["behind"], limit=PAGE_SIZE)
    position = None if following is None else {"of": "reviews", "behind": following}
    return _page_of([_review_resource(review) for review in reviews], position)


def _documents_page(principal: Principal, *, behind: int | None, earlier: int | None) -> KeysetPage[Resource]:
    """A page of documents. Behind the last of them come the reviews behind ``earlier``; None: there are none."""
    documents, following = _take(reading.list_documents(principal), behind=behind, limit=PAGE_SIZE)
    position: dict[str, Any] | None = None
    if following is not None:
        position = {"of": "documents", "behind": following, "earlier": earlier}
    elif earlier is not None:
        position = {"of": "reviews", "behind": earlier}
    return _page_of([_document_resource(document) for document in documents], position)


def _take(rows: QuerySet[M], *, behind: int | None, limit: int) -> tuple[list[M], int | None]:
    """The newest rows behind a key, and the key of the last of them when there are more. One query."""
    if behind is not None:
        rows = rows.filter(pk__lt=behind)
    taken = list(rows.order_by("-pk")[: limit + 1])
    shown = taken[:limit]
    return shown, shown[-1].pk if len(taken) > limit else None


def _page_of(items: list[Resource], position: Mapping[str, Any] | None) -> KeysetPage[Resource]:
    return KeysetPage(items=items, next_cursor=encode_cursor(dict(position), scope=SCOPE) if position else None)


def _reviews(principal: Principal) -> QuerySet[Review]:
    return list_reviews(principal).select_related("version__document")


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
    newest = list_reviews(principal).values_list("pk", flat=True).first()
    return documents["count"], documents["newest"], newest
