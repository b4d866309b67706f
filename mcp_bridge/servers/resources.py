"""Resources: documents, reviews, check items, this hub's configuration, passages."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

from django.conf import settings

from hub.access.principals import Principal, Scope
from hub.core.errors import Conflict, Forbidden, NotFound
from knowledge.documents import reading
from knowledge.documents.documents import get_document
from knowledge.documents.schemas import chunk_out, document_out
from knowledge.guidelines.editions import get_article
from knowledge.models import Chunk, Collection, DocumentType
from knowledge.ontology.ontologies import get_ontology
from knowledge.search import hit_out, neighbours
from mcp_bridge import uris
from mcp_bridge.caller import current_caller
from mcp_bridge.icons import icon
from mcp_bridge.server import VERSION, HubServer
from mcp_bridge.servers import reviews, stored
from mcp_bridge.servers.check_items import find_items
from mcp_bridge.servers.embeddings import read_embeddings
from mcp_bridge.threads import in_thread
from review import scenarios
from review.masters.listing import list_checklists
from review.runs.reviews import get_review

JSON = "application/json"


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
    server.lists.stored = stored.list_stored
    server.lists.stored_state = stored.state_of_stored
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
        return json.dumps(facts, ensure_ascii=False, indent=2)

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
