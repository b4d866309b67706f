"""Every MCP server through a client in this process: what it lists, each tool, resource, prompt and completion once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from mcp import Client, MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from benchmarks.golden.fill import DESIGNS, Filled
from hub.access.principals import Principal, local_operator
from mcp_bridge.calls import Door
from mcp_bridge.events import EventBridge
from mcp_bridge.servers import SERVERS, build_server

WHOLE = "hub"  # the server that has what all others have
LISTS = ("tools", "resources", "resource_templates", "prompts")
EVALUATION = "golden"


def mcp(hub: Filled) -> list[tuple[str, Any]]:
    """Go through all servers. Changes the hub: uploads a document, reviews it, and runs an evaluation."""
    given = _examples(hub)

    async def ask() -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        for name in sorted(SERVERS):
            async with Client(build_server(name, _door())) as client:
                found += [(f"{name} {key}", answer) async for key, answer in _server(client, name, given)]
        return found

    return asyncio.run(ask())


def _door() -> Door:
    async def principal() -> Principal:
        return local_operator()

    return Door(principal=principal, events=EventBridge(), is_local=True, toolsets=("all",))


async def _server(client: Client, name: str, given: dict[str, str]) -> AsyncIterator[tuple[str, Any]]:
    for kind in LISTS:
        yield f"list {kind}", _dumped(await getattr(client, f"list_{kind}")())
    if name == WHOLE:
        return  # what it has is asked of the others
    tools = {tool.name for tool in (await client.list_tools()).tools}
    for tool, arguments in _tools(given).items():
        if tool in tools:
            yield f"tool {tool}", _dumped(await client.call_tool(tool, arguments))
    stored = ("/documents/", "/results/")  # they are read by their templates
    uris = [str(one.uri) for one in (await client.list_resources()).resources]
    templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
    for uri in [*(uri for uri in uris if not any(part in uri for part in stored)), *map(_filled(given), templates)]:
        yield f"resource {uri}", await _or_error(client.read_resource(uri))
    for template in templates:
        reference = ResourceTemplateReference(type="ref/resource", uri=template)
        argument = {"name": template.partition("{")[2].rstrip("}"), "value": ""}
        yield f"completion {template}", await _or_error(client.complete(reference, argument))
    for prompt in (await client.list_prompts()).prompts:
        arguments = {one.name: given[one.name] for one in prompt.arguments or [] if one.name in given}
        yield f"prompt {prompt.name}", await _or_error(client.get_prompt(prompt.name, arguments))
        for one in prompt.arguments or []:
            reference_of = PromptReference(type="ref/prompt", name=prompt.name)
            answer = await _or_error(client.complete(reference_of, {"name": one.name, "value": ""}))
            yield f"completion {prompt.name} {one.name}", answer


async def _or_error(asked: Any) -> Any:
    try:
        return _dumped(await asked)
    except MCPError as error:
        return {"error": error.error.message, "data": error.error.data}


def _dumped(result: Any) -> Any:
    return result.model_dump(mode="json", by_alias=True)


def _filled(given: dict[str, str]) -> Any:
    ids = {
        "documents": given["document_id"], "results": given["review_id"], "scenarios": given["scenario_id"],
        "chunks": given["chunk_id"], "embeddings": given["document_id"], "ontology": given["domain"],
        "guidelines": given["guideline_article"],
    }  # fmt: skip
    return lambda template: f"{template.partition('{')[0]}{ids[template.split('/')[-2]]}"


def _examples(hub: Filled) -> dict[str, str]:
    """Values for arguments by their names, of the first design and a review of it."""
    document = hub.documents[0]
    review = hub.admin.post("/reviews", {"document_id": document.document_id, "options": {"judge": "rules"}})["body"]
    hub.names.learn(review["review_id"], "review for MCP")
    for position, finding in enumerate(hub.admin.get(f"/reviews/{review['review_id']}")["body"]["findings"], 1):
        hub.names.learn(finding["id"], f"finding {position}")
    _dataset(hub)
    return {
        "document_id": document.document_id,
        "document_type": "basic_design",
        "review_id": review["review_id"],
        "chunk_id": next(hub.admin.rows(f"/documents/{document.document_id}/chunks"))["chunk_id"],
        "scenario_id": hub.admin.get("/scenarios")["body"][0]["id"],
        "guideline_article": hub.admin.get("/guidelines/mappings")["body"][0]["article"],
        "domain": "system_design",
        "ontology_domain": "system_design",
        "inference_type": "subclass",
        "check_item": "BD-A01",
        "document_context": "予約は前日まで取り消せる。",
        "vector_results": "予約は前日まで取り消せる。",
        "finding": "主語がない",
        "context": "予約は前日まで取り消せる。",
    }


def _dataset(hub: Filled) -> None:
    hub.admin.post("/evaluation/datasets", {"code": EVALUATION, "name": "記録"})
    case = {"query": "監視と通報の手順", "relevant": [hub.documents[0].path.partition("/")[2]]}
    hub.admin.post(f"/evaluation/datasets/{EVALUATION}/cases/import", {"cases": [case]})


def _tools(given: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Arguments of every tool, in the order of the calls: those that change something come last."""
    document, review = {"document_id": given["document_id"]}, {"review_id": given["review_id"]}
    new = {"content": "# 新しい設計\n\n## 目的\n\n予約を行なう。\n", "filename": "新しい設計.md", "collection": DESIGNS}
    return {
        "get_check_items": {"document_type": "basic_design"},
        "create_report": {**review, "format": "markdown"},
        "get_review": review,
        "list_documents": {"collection": DESIGNS},
        "check_text": {"text": "予約を行なう。サーバとサーバーが出来る。"},
        "search": {"query": "監視と通報の手順"},
        "vector_search": {"query": "監視と通報の手順", "threshold": 0.0},
        "answer": {"query": "監視と通報の手順"},
        "check_ontology": {**document, "domain": "system_design"},
        "check_ontology_coverage": {**document, "domain": "system_design"},
        "get_document_count": {},
        "graph_search": {"entity": "BD-A01"},
        "hybrid_retrieve": {**document, "check_item_id": "BD-A01"},
        "reason_ontology": {"ontology_domain": "system_design", "inference_type": "subclass"},
        "get_guideline_mapping": {"guideline_article": given["guideline_article"]},
        "query_knowledge_graph": {"cypher_query": "MATCH (n:CheckItem) RETURN n.code ORDER BY n.code LIMIT 20"},
        "kb_answer": {"query": "予約"},
        "cancel_review": review,
        "review_document": {**document, "options": {"wait_seconds": 30, "judge": "rules"}},
        "embed_document": {**document, "wait_seconds": 30},
        "run_evaluation": {"dataset_id": EVALUATION},
        "upload_document": {**new, "wait_seconds": 30},
    }
