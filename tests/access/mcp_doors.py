"""Every tool, resource, template, prompt and completion of every MCP server, called by every person."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections, transaction
from mcp import Client, MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from hub.access.principals import Principal
from hub.access.services import authenticate
from hub.rest.request_threads import RequestThreads
from mcp_bridge import threads, uris
from mcp_bridge.calls import Door
from mcp_bridge.errors import META_KEY
from mcp_bridge.events import EventBridge
from mcp_bridge.principal import bearer_principal
from mcp_bridge.servers import SERVERS, build_server
from tests.access.answers import Answer, Observed
from tests.access.people import PERSONS, PeopledHub

REFUSALS = ("missing_scope", "forbidden", "hub_role_needed", "unauthenticated", "not_found")
STORED = (uris.DOCUMENTS, uris.RESULTS)  # they are gone through by their templates
WHOLE = "hub"  # the server that has what all others have


@contextmanager
def one_connection() -> Iterator[None]:
    """Let the threads of the MCP servers work in this thread's transaction, as Django's live servers do."""
    ours = connections["default"]
    ours.inc_thread_sharing()

    call = threads._call

    def call_here(function: Callable[[], Any], language: str | None) -> Any:
        connections["default"] = ours
        return call(function, language)

    one_at_a_time = RequestThreads(most=1, wait_s=0, most_aside=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "_threads", lambda: one_at_a_time)
        patch.setattr(threads, "_call", call_here)
        # Django's own test client keeps it from closing a connection in a transaction likewise.
        patch.setattr(threads, "close_old_connections", lambda: None)
        yield
    ours.dec_thread_sharing()


def caller_with(token: str) -> Callable[[], Awaitable[Principal]]:
    """Who calls with a token, asked at each call; without one what a request without a token gets."""

    async def owner() -> Principal:
        return await threads.in_thread(authenticate, token)

    return owner if token else bearer_principal


def door_with(token: str) -> Door:
    return Door(principal=caller_with(token), events=EventBridge(), toolsets=("all",))


async def names_of(server: str, token: str) -> set[str]:
    """What one server lists for a caller."""
    async with Client(build_server(server, door_with(token))) as client:
        return await _listed(client)


async def _listed(client: Client) -> set[str]:
    tools = {f"tool {item.name}" for item in (await client.list_tools()).tools}
    stored = (await client.list_resources()).resources
    offered = (await client.list_resource_templates()).resource_templates
    resources = {f"resource {item.uri}" for item in stored if not str(item.uri).startswith(STORED)}
    templates = {f"template {item.uri_template}" for item in offered}
    prompts = {f"prompt {item.name}" for item in (await client.list_prompts()).prompts}
    return tools | resources | templates | prompts


def arguments_of_tools(hub: PeopledHub) -> dict[str, dict[str, Any]]:
    """Arguments with which each tool reaches what the collection has."""
    given = hub.examples
    document, review = {"document_id": given["document_id"]}, {"review_id": given["review_id"]}
    return {
        "review_document": {**document, "options": {"wait_seconds": 0}},
        "upload_document": {"content": "# 新\n\n本文\n", "filename": "new.md", "collection": given["collection"]},
        "get_check_items": {},
        "create_report": {**review, "format": "markdown"},
        "get_review": review,
        "cancel_review": review,
        "list_documents": {},
        "list_collections": {},
        "list_reviews": {"document_id": given["document_id"]},
        "get_section": document,
        "check_text": {"text": "予約を行う。"},
        "run_evaluation": {"dataset_id": given["dataset"], "wait_seconds": 0},
        "search": {"query": "予約"},
        "vector_search": {"query": "予約システムの基本設計", "threshold": 0.0},
        "answer": {"query": "予約システムの基本設計を定めるのは何か。"},
        "check_ontology": {**document, "domain": "system_design"},
        "get_document_count": {"collection": given["collection"]},
        "embed_document": {**document, "wait_seconds": 0},
        "graph_search": {"entity": "FR-777"},
        "hybrid_retrieve": {**document, "check_item_id": given["check_item_id"]},
        "check_ontology_coverage": {**document, "domain": "system_design"},
        "reason_ontology": {"ontology_domain": "system_design", "inference_type": "subclass"},
        "get_guideline_mapping": {"guideline_article": given["article"]},
        "query_knowledge_graph": {"cypher_query": given["cypher_query"]},
        "kb_answer": {"query": "予約"},
    }


def arguments_of_prompts(hub: PeopledHub) -> dict[str, dict[str, str]]:
    """Arguments of each prompt, of the collection's document where it takes one."""
    document = {"document_id": hub.examples["document_id"]}
    return {
        "review_document_template": {**document, "document_type": "basic_design"},
        "suggestion_generation": {"finding": "予約", "context": "予約"},
        "rag_query_template": {"check_item": "BD-A01", "document_context": "予約"},
        "context_synthesis": {"vector_results": "予約"},
        "coverage_check_template": {**document, "domain": "system_design"},
        "reasoning_template": {"ontology_domain": "system_design", "inference_type": "subclass"},
    }


def ids_of_templates(hub: PeopledHub) -> dict[str, str]:
    """The address that each template leads to."""
    given = hub.examples
    return {
        "smartreviewer://documents/{id}": f"smartreviewer://documents/{given['document_id']}",
        "smartreviewer://results/{id}": f"smartreviewer://results/{given['review_id']}",
        "smartreviewer://scenarios/{id}": f"smartreviewer://scenarios/{given['scenario_id']}",
        "smartreviewer-rag://chunks/{id}": f"smartreviewer-rag://chunks/{given['chunk_id']}",
        "smartreviewer-rag://embeddings/{id}": f"smartreviewer-rag://embeddings/{given['document_id']}",
        "smartreviewer-knowledge://ontology/{domain}": "smartreviewer-knowledge://ontology/system_design",
        "smartreviewer-knowledge://guidelines/{id}": f"smartreviewer-knowledge://guidelines/{given['article']}",
    }


class McpCaller:
    """One person's client of the server that has everything."""

    def __init__(self, hub: PeopledHub, client: Client) -> None:
        self._hub, self._client = hub, client

    async def answer(self, door: str) -> Answer:
        """Go through one door, and take back what that did."""
        point = await threads.in_thread(transaction.savepoint)
        try:
            return await self._answer(door)
        finally:
            await threads.in_thread(transaction.savepoint_rollback, point)

    async def _answer(self, door: str) -> Answer:
        kind, _space, name = door.partition(" ")
        try:
            text, is_refused = await getattr(self, f"_{kind}")(name)
        except MCPError as error:
            if "internal_error" in str(error.error.data):
                raise
            return Answer(is_open=False, told=f"{error.error.message} {error.error.data}")
        shows = not is_refused and any(mark in text for mark in self._hub.marks)
        return Answer(is_open=not is_refused, shows=shows, told=text[:200])

    async def _tool(self, name: str) -> tuple[str, bool]:
        result = await self._client.call_tool(name, arguments_of_tools(self._hub)[name])
        code = (result.meta or {}).get(META_KEY, {}).get("code", "")
        is_refused = bool(result.is_error) and (code in REFUSALS or code.endswith("_not_found"))
        return result.model_dump_json(), is_refused

    async def _resource(self, uri: str) -> tuple[str, bool]:
        return (await self._client.read_resource(uri)).model_dump_json(), False

    async def _template(self, template: str) -> tuple[str, bool]:
        return await self._resource(ids_of_templates(self._hub)[template])

    async def _completion(self, template: str) -> tuple[str, bool]:
        reference = ResourceTemplateReference(type="ref/resource", uri=template)
        name = template.partition("{")[2].rstrip("}")
        return (await self._client.complete(reference, {"name": name, "value": ""})).model_dump_json(), False

    async def _prompt(self, name: str) -> tuple[str, bool]:
        arguments = arguments_of_prompts(self._hub)[name]
        return (await self._client.get_prompt(name, arguments)).model_dump_json(), False

    async def _argument(self, name: str) -> tuple[str, bool]:
        reference = PromptReference(type="ref/prompt", name="review_document_template")  # the argument's name decides
        return (await self._client.complete(reference, {"name": name, "value": ""})).model_dump_json(), False

    async def _list(self, name: str) -> tuple[str, bool]:
        listed = await getattr(self._client, f"list_{name}")()
        return listed.model_dump_json(), False


LISTS = ("list tools", "list resources", "list resource_templates", "list prompts")


async def _doors(client: Client) -> list[str]:
    listed = await _listed(client)
    prompts = (await client.list_prompts()).prompts
    completions = {f"completion {name.removeprefix('template ')}" for name in listed if name.startswith("template ")}
    arguments = {f"argument {each.name}" for one in prompts for each in one.arguments or []}
    return sorted(listed | completions | arguments | set(LISTS))


def mcp_doors(hub: PeopledHub) -> list[str]:
    """Every door of the whole server, as the superuser finds it, and the tools that it has without listing them."""
    tools = {f"tool {item.tool.name}" for item in SERVERS[WHOLE].tools}

    async def ask() -> list[str]:
        async with Client(build_server(WHOLE, door_with(hub.tokens["superuser"]))) as client:
            return sorted({*await _doors(client), *tools})

    return asyncio.run(ask())


def doors_of_servers(hub: PeopledHub) -> dict[str, set[str]]:
    """What each server lists for the superuser, by the server's name."""

    async def ask() -> dict[str, set[str]]:
        return {server: await names_of(server, hub.tokens["superuser"]) for server in SERVERS}

    return asyncio.run(ask())


def mcp_answers(hub: PeopledHub, doors: list[str], tokens: dict[str, str]) -> Observed:
    """Go through the doors with each token, by the name of its owner; an empty one is none."""

    async def ask() -> Observed:
        observed: Observed = {door: {} for door in doors}
        for person, token in tokens.items():
            async with Client(build_server(WHOLE, door_with(token))) as client:
                caller = McpCaller(hub, client)
                for door in doors:
                    observed[door][person] = await caller.answer(door)
        return observed

    return asyncio.run(ask())


def tokens_of(hub: PeopledHub) -> dict[str, str]:
    return {person: hub.tokens.get(person, "") for person in PERSONS}
