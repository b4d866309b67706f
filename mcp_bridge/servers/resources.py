"""Resources: documents, reviews, check items, this hub's configuration, passages; and what of it lists name."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import Count, Max, Model, QuerySet
from django.utils.timezone import localtime
from mcp.types import Resource

from hub.access.principals import Principal, Scope
from hub.core.errors import Conflict, Forbidden, NotFound
from hub.rest.pagination import KeysetPage, cursor_scope, decode_cursor, encode_cursor
from knowledge.documents import reading
from knowledge.documents.documents import get_document
from knowledge.documents.schemas import chunk_out, document_out
from knowledge.guidelines.editions import get_article
from knowledge.models import Chunk, Collection, Document, DocumentType
from knowledge.ontology.ontologies import get_ontology
from knowledge.search import hit_out, neighbours
from mcp_bridge import uris
from mcp_bridge.caller import current_caller
from mcp_bridge.icons import icon
from mcp_bridge.lists import PAGE_SIZE
from mcp_bridge.server import VERSION, HubServer
from mcp_bridge.servers import reviews
from mcp_bridge.servers.checks import find_items
from mcp_bridge.servers.embeddings import read_embeddings
from mcp_bridge.threads import in_thread
from review import scenarios
from review.masters.listing import list_checklists
from review.models import Review
from review.runs.reviews import get_review, list_reviews

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
    older, following = _take(_reviews(principal), behind=at["behind"], limit=PAGE_SIZE)
    position = None if following is None else {"of": "reviews", "behind": following}
    return _page_of([_review_resource(review) for review in older], position)


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


def read_document(id: str) -> dict[str, Any]:
    """A document (文書): its facts, and its sections, figures and tables as soon as its text was read."""
    principal = current_caller().principal
    document = get_document(principal, id)
    facts = document_out(document).model_dump(mode="json")
    try:
        structure = reading.get_structure(principal, id).model_dump(mode="json")
    except Conflict:  # its text is not there yet
        structure = None
    return {**facts, "id": id, "name": facts["title"], "type": facts["document_type"], "structure": structure}


def read_result(id: str) -> dict[str, Any]:
    """A review (レビュー結果): state, verdict, results, findings, suggestions, summary."""
    facts = reviews.show(current_caller().principal, id, Scope.READ).model_dump(mode="json")
    return {**facts, "executed_at": facts["finished_at"]}


def read_check_items() -> dict[str, Any]:
    """The check items (チェック項目マスタ) in force, and their categories."""
    items = [item.model_dump(mode="json") for item in find_items(current_caller().principal)]
    lists = list_checklists(current_caller().principal)
    approved = [version.approved_at for entry in lists for version in entry.versions.all() if version.approved_at]
    return {
        "items": items,
        "categories": sorted({item["category"] for item in items}),
        "last_updated": max(approved).isoformat() if approved else None,
    }


def read_scenario(id: str) -> dict[str, Any]:
    """A scenario (利用シナリオ): whose work it is, its steps in order, and what each leads to."""
    return scenarios.show_scenario(current_caller().principal, id).model_dump(mode="json")


def read_config() -> dict[str, Any]:
    """What this hub offers the caller: scopes, collections, document types, check lists, limits."""
    principal = current_caller().principal
    types = DocumentType.objects.order_by("code")
    return {
        "version": VERSION,
        "caller": {"name": principal.name, "scopes": sorted(principal.scopes)},
        "collections": list(Collection.objects.visible_to(principal).order_by("slug").values_list("slug", flat=True)),
        "document_types": {item.code: {"ja": item.name_ja, "en": item.name_en} for item in types},
        "checklists": [item.code for item in list_checklists(principal)],
        "embedding_backend": settings.CONFIG.embedding_backend,
        "llm_provider": settings.CONFIG.llm_provider,
        "limits": {
            "mcp_request_bytes": settings.CONFIG.hub_mcp_max_bytes,
            "upload_bytes": settings.CONFIG.hub_max_upload_bytes,
            "output_characters": settings.CONFIG.hub_output_budget_chars,
        },
    }


def read_chunks(id: str) -> dict[str, Any]:
    """Passages (チャンク): all of a document for an id doc_…, one with its neighbours for a passage's id."""
    principal = current_caller().principal
    if not id.startswith("doc_"):
        around = [hit_out(hit).model_dump(mode="json") for hit in neighbours(principal, id)]
        return {"document_id": around[0]["document_id"], "chunks": [{**hit, "id": hit["chunk_id"]} for hit in around]}
    return _document_chunks(principal, id)


def _document_chunks(principal: Principal, document_id: str) -> dict[str, Any]:
    budget = settings.CONFIG.hub_output_budget_chars
    shown: list[dict[str, Any]] = []
    is_complete = True
    for chunk in reading.list_chunks(principal, document_id).prefetch_related("vectors"):
        budget -= len(chunk.content)
        if budget < 0:
            is_complete = False
            break
        shown.append(_chunk_facts(chunk))
    return {
        "document_id": document_id,
        "chunks": shown,
        "total_tokens": sum(chunk["token_count"] for chunk in shown),
        "is_complete": is_complete,
    }


def _chunk_facts(chunk: Chunk) -> dict[str, Any]:
    facts = chunk_out(chunk).model_dump(mode="json")
    names = ("chunk_index", "section_path", "page", "cell", "start_offset", "end_offset")
    position = {name: facts[name] for name in names}
    return {**facts, "id": facts["chunk_id"], "position": position, "has_embedding": bool(chunk.vectors.all())}


def add_core_resources(server: HubServer) -> None:
    """Register what smartreviewer-core shows."""
    server.lists.stored = list_stored
    server.lists.stored_state = state_of_stored
    add_resource(
        server, uris.CHECK_ITEMS, read_check_items, title="Check items master (チェック項目マスタ)", picture="list"
    )
    add_resource(server, uris.CONFIG, read_config, title="Configuration (設定)", picture="grid")
    add_resource(server, uris.DOCUMENTS + "{id}", read_document, title="Document (文書)", picture="document")
    add_resource(server, uris.RESULTS + "{id}", read_result, title="Review result (レビュー結果)", picture="check")
    add_resource(server, uris.SCENARIOS + "{id}", read_scenario, title="Scenario (利用シナリオ)", picture="list")


def add_rag_resources(server: HubServer) -> None:
    """Register what smartreviewer-rag shows."""
    add_resource(server, uris.CHUNKS + "{id}", read_chunks, title="Passages (チャンク)", picture="document")
    add_resource(
        server, uris.EMBEDDINGS + "{id}", read_embeddings, title="Vectors of a document (埋め込み)", picture="grid"
    )


def add_resource(
    server: HubServer, uri: str, function: Callable[..., dict[str, Any]], *, title: str, picture: str
) -> None:
    """Register what a blocking function reads as a JSON resource; its docstring is the description."""
    name = function.__name__.removeprefix("read_").replace("_", "-")
    register = server.resource(
        uri, name=name, title=title, description=function.__doc__, mime_type=JSON, icons=[icon(picture)]
    )
    register(_as_json(function))


def _as_json(function: Callable[..., dict[str, Any]]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def read(**arguments: str) -> str:
        facts = await in_thread(function, **arguments)
        return json.dumps(facts, ensure_ascii=False)

    read.__annotations__ = {**function.__annotations__, "return": str}
    return read


async def is_readable(uri: str) -> bool:
    """Tell whether the running call's caller may read a resource: hidden ones answer like those that are not there."""
    return await in_thread(_is_readable, current_caller().principal, uri)


def _is_readable(principal: Principal, uri: str) -> bool:
    if uri == uris.GRAPH_SCHEMA:
        return principal.allows(Scope.SEARCH)
    if uri in (uris.CHECK_ITEMS, uris.CONFIG):
        return True
    for prefix, find in FINDERS.items():
        if uri.startswith(prefix):
            return _finds(find, principal, uri.removeprefix(prefix))
    return False


def _finds(find: Callable[[Principal, str], object], principal: Principal, public_id: str) -> bool:
    try:
        find(principal, public_id)
    except (NotFound, Forbidden):
        return False
    return True


def _find_chunks(principal: Principal, public_id: str) -> object:
    is_document = public_id.startswith("doc_")
    return get_document(principal, public_id) if is_document else neighbours(principal, public_id, before=0, after=0)


FINDERS: dict[str, Callable[[Principal, str], object]] = {
    uris.DOCUMENTS: get_document,
    uris.RESULTS: get_review,
    uris.SCENARIOS: scenarios.get_scenario,
    uris.CHUNKS: _find_chunks,
    uris.EMBEDDINGS: get_document,
    uris.GUIDELINES: get_article,
    uris.ONTOLOGIES: get_ontology,
}
