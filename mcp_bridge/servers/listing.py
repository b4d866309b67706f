"""The documents, each with its newest reviews: a new conversation finds the ids of earlier ones here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Literal

from django.db.models import Count, F, Window
from django.db.models.functions import RowNumber
from pydantic import Field

from hub.access.principals import Principal, Scope
from hub.rest.pagination import cursor_scope, paginate_keyset
from knowledge.documents import reading
from knowledge.documents.schemas import document_out
from knowledge.models import Document
from mcp_bridge.caller import current_caller
from mcp_bridge.server import HubTool, hub_tool
from mcp_bridge.servers.emptiness import no_document
from mcp_bridge.servers.schemas import (
    Collection,
    Cursor,
    DocumentPage,
    DocumentTypeCode,
    ListedDocument,
    ListedReview,
)
from review.runs.reviews import list_reviews

REVIEWS_SHOWN = 3


def list_documents(
    collection: Collection = "",
    status: Annotated[
        Literal["", "stored", "parsing", "chunking", "embedding", "ready", "needs_ocr", "failed", "retired"],
        Field(description="only these; empty: all"),
    ] = "",
    document_type: DocumentTypeCode = "",
    path_prefix: Annotated[str, Field(max_length=1000, description="paths that begin so")] = "",
    query: Annotated[str, Field(max_length=500, description="part of the title or the path")] = "",
    limit: Annotated[int, Field(ge=1, le=100, description="documents on a page")] = 20,
    cursor: Cursor = None,
) -> DocumentPage:
    """List the documents (登録済み文書の一覧) that you may read, newest first, with the state of the work on them.

    Use it to find a document by its name, type or date and get its id (文書 ID、版、登録日), to see which are being
    processed or failed (処理中、失敗), or to find the ids of earlier reviews (過去のレビュー) in reviews. To find
    something inside documents use search.
    """
    filters = {
        "collection": collection,
        "status": status,
        "document_type": document_type,
        "path_prefix": path_prefix,
        "query": query,
    }
    principal = current_caller().principal
    documents = reading.list_documents(principal, **filters)
    page = paginate_keyset(documents, limit=limit, cursor=cursor, scope=cursor_scope("mcp.documents", **filters))
    reviews = _newest_reviews(principal, page.items)
    items = [
        ListedDocument(
            **dict(document_out(item)),
            reviews=reviews[item.pk][1],
            reviews_count=reviews[item.pk][0],
        )
        for item in page.items
    ]
    return DocumentPage(
        items=items,
        next_cursor=page.next_cursor,
        notices=[] if items or cursor else [no_document(filters)],
    )


def _newest_reviews(principal: Principal, documents: Sequence[Document]) -> dict[int, tuple[int, list[ListedReview]]]:
    """How many reviews each document has, by its primary key, and the newest of them, newest first. One query."""
    rank = Window(RowNumber(), partition_by=F("version__document_id"), order_by=F("pk").desc())
    count = Window(Count("pk"), partition_by=F("version__document_id"))
    newest = (
        list_reviews(principal)
        .filter(version__document_id__in=[document.pk for document in documents])
        .annotate(document_pk=F("version__document_id"), rank=rank, count=count)
        .filter(rank__lte=REVIEWS_SHOWN)
    )
    found: dict[int, tuple[int, list[ListedReview]]] = defaultdict(lambda: (0, []))
    for review in newest:
        rows = found[review.document_pk][1]
        rows.append(
            ListedReview(
                review_id=review.public_id,
                checklist=review.checklist_version.checklist.code,
                document_version=review.version_number,
                status=review.status,
                verdict=review.verdict or None,
                created_at=review.created_at,
            )
        )
        found[review.document_pk] = (review.count, rows)
    return found


TOOL: HubTool = hub_tool(list_documents, title="Documents (文書一覧)", scope=Scope.READ, picture="list")
