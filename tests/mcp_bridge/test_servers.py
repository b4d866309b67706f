"""What each server offers, in both protocol eras, to callers with different scopes. Nothing here needs a database."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS, Implementation

from hub.access.principals import ALL_SCOPES, Classification, Principal, Scope
from mcp_bridge.calls import Door
from mcp_bridge.errors import META_KEY
from mcp_bridge.events import EventBridge
from mcp_bridge.servers import SERVERS, build_server
from mcp_bridge.toolsets import SECOND_NAMES

pytestmark = pytest.mark.anyio
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
CORE = {
    "review_document",
    "upload_document",
    "get_check_items",
    "create_report",
    "get_review",
    "cancel_review",
    "list_documents",
    "check_text",
    "run_evaluation",
}
RAG = {
    "search",
    "vector_search",
    "answer",
    "get_document_count",
    "check_ontology",
    "graph_search",
    "hybrid_retrieve",
    "embed_document",
}
BEDROCK = {"kb_answer"}
OVERVIEW = {"list_collections", "list_reviews", "get_section"}
KNOWLEDGE = {"check_ontology_coverage", "reason_ontology", "get_guideline_mapping", "query_knowledge_graph"}


@asynccontextmanager
async def client_of(
    name: str,
    *,
    mode: str = "auto",
    scopes: frozenset[Scope] = ALL_SCOPES,
    language: str | None = None,
    toolsets: tuple[str, ...] = ("all",),
    **options,
):
    async def principal() -> Principal:
        # of a superuser nobody asks the database in which collections they may do what
        return Principal(name="利用者", user_id=1, scopes=scopes, ceiling=Classification.C2, is_superuser=True)

    door = Door(principal=principal, events=EventBridge(), language=language, is_local=True, toolsets=toolsets)
    async with Client(build_server(name, door), mode=mode, **options) as client:
        yield client


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("name", "server_name", "tools"),
    [
        ("core", "smartreviewer-core", CORE),
        ("rag", "smartreviewer-rag", RAG),
        ("knowledge", "smartreviewer-knowledge", KNOWLEDGE),
        ("bedrock-kb", "mcp-bedrock-kb", BEDROCK),
        ("hub", "hub", OVERVIEW | (CORE | RAG | KNOWLEDGE) - SECOND_NAMES),  # kb_answer needs BEDROCK_KB_ID
    ],
)
async def test_each_server_names_itself_and_its_tools_in_both_eras(mode, name, server_name, tools):
    async with client_of(name, mode=mode) as client:
        listed = await client.list_tools()
        assert client.protocol_version == ERAS[mode]
        assert client.server_info is not None
        assert client.server_info.name == server_name
        assert {tool.name for tool in listed.tools} == tools


async def test_every_tool_is_described_completely():
    async with client_of("hub") as client:
        for tool in (await client.list_tools()).tools:
            assert tool.title, tool.name
            assert len(tool.description or "") > 80, tool.name
            assert tool.icons, tool.name
            assert tool.annotations, tool.name
            assert tool.output_schema, tool.name
            assert tool.input_schema["additionalProperties"] is False
            for name, field in tool.input_schema["properties"].items():
                assert "description" in field or "$ref" in field, f"{tool.name}.{name}"


async def test_annotations_tell_reading_from_writing():
    async with client_of("hub") as client:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    writing = {name for name, hint in hints.items() if hint and not hint.read_only_hint}
    assert writing == {"review_document", "upload_document", "cancel_review", "run_evaluation", "embed_document"}
    assert not {name for name, hint in hints.items() if hint and hint.open_world_hint}
    async with client_of("bedrock-kb") as client:
        assert [tool.annotations.open_world_hint for tool in (await client.list_tools()).tools] == [True]


async def test_resources_and_templates_of_the_hub_server():
    async with client_of("hub", scopes=frozenset({Scope.SEARCH})) as client:  # documents are for scope read
        resources = await client.list_resources()
        templates = await client.list_resource_templates()
    assert [str(item.uri) for item in resources.resources] == [
        "smartreviewer://check-items",
        "smartreviewer://config",
        "smartreviewer-knowledge://graph/schema",
    ]
    assert [item.uri_template for item in templates.resource_templates] == [
        "smartreviewer://documents/{id}",
        "smartreviewer://results/{id}",
        "smartreviewer://scenarios/{id}",
        "smartreviewer-rag://chunks/{id}",
        "smartreviewer-rag://embeddings/{id}",
        "smartreviewer-knowledge://ontology/{domain}",
        "smartreviewer-knowledge://guidelines/{id}",
    ]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_caller_without_the_scope_neither_sees_a_tool_nor_may_call_it(mode):
    async with client_of("core", mode=mode, scopes=frozenset({Scope.READ})) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        refused = await client.call_tool("review_document", {"document_id": "doc_1"})
    assert names == {"get_check_items", "create_report", "get_review", "list_documents", "check_text"}
    assert refused.is_error
    assert 'needs the scope "review"' in refused.content[0].text
    assert refused.meta is not None
    assert refused.meta[META_KEY]["code"] == "missing_scope"


@pytest.mark.parametrize("mode", ERAS)
async def test_what_is_not_there_is_answered_with_what_is(mode):
    async with client_of("core", mode=mode) as client:
        for call in (
            client.call_tool("kg_query", {}),
            client.get_prompt("no_such_prompt"),
            client.read_resource("smartreviewer://nothing"),
        ):
            with pytest.raises(MCPError) as caught:
                await call
            assert caught.value.error.code == INVALID_PARAMS
            assert caught.value.error.message.startswith("Unknown ")
            assert caught.value.error.data["known"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": "貸出", "top_k": 3}, "unknown: top_k"),
        ({"query": "貸出", "limit": 1000}, "limit: at most 100 (given: 1000)"),
        ({}, "query: is missing"),
        (
            {"query": "貸出", "filter": {"documenttype": "x"}},
            "filter.documenttype: there is no such argument. Known here: classification, collection",
        ),
        ({"query": "貸\0出"}, '"query" contains a NUL character'),
        ({"query": "貸出", "filter": {"document_ids": ["doc_\0"]}}, '"filter.document_ids.0" contains a NUL character'),
        ({"query": None}, "query: a text (given: None)"),
    ],
)
async def test_bad_arguments_are_a_tool_error_that_says_which_and_why(arguments, words):
    async with client_of("rag") as client:
        result = await client.call_tool("search", arguments)
    assert result.is_error
    assert words in result.content[0].text
    assert "pydantic" not in result.content[0].text


async def test_who_connects_and_what_fails_is_logged_on_one_line_each(caplog):
    caplog.set_level("INFO", logger="mcp_bridge.connections")
    async with client_of("rag", client_info=Implementation(name="試験\nERROR 偽の行", version="1")) as client:
        await client.list_tools()
        await client.call_tool("search", {"query": 7})
    lines = [record.getMessage() for record in caplog.records]
    assert [line.partition(":")[0] for line in lines] == ["connected", "failed"]
    assert all("利用者" in line and "\n" not in line for line in lines)
    assert "invalid_arguments" in lines[1]


async def test_an_optional_argument_that_is_null_counts_as_left_out(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "knowledge.documents.reading.count_documents", lambda _who, **given: asked.append(given) or (0, 0)
    )
    async with client_of("rag") as client:
        counted = await client.call_tool("get_document_count", {"collection": None})
    assert counted.structured_content == {"documents": 0, "chunks": 0}
    assert asked == [{"collection": ""}]


async def test_more_findings_than_an_answer_may_hold_are_counted_and_left_out(settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_output_budget_chars": 5000})
    async with client_of("core") as client:
        few = (await client.call_tool("check_text", {"text": "これは適切に行う。"})).structured_content
        many = (await client.call_tool("check_text", {"text": "見れる。\n\n" * 100})).structured_content
    assert len(few["findings"]) == few["total_findings"]
    assert 0 < len(many["findings"]) < many["total_findings"]
    assert [notice["code"] for notice in many["notices"]] == ["findings_left_out"]


async def test_a_bug_is_an_internal_error_with_a_request_id_and_no_details(monkeypatch, caplog):
    def broken(*_args: object, **_kwargs: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("knowledge.documents.reading.count_documents", broken)
    async with client_of("rag") as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("get_document_count", {})
    error = caught.value.error
    assert error.code == -32603
    assert error.data["retryable"] is False
    assert error.data["fallbackStrategy"]
    assert error.data["request_id"] in error.message
    assert "secret" not in error.message + str(error.data)
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"finding": "x"}, "missing: context"), ({"finding": "x", "context": "y", "language": "fr"}, "not one of ja, en")],
)
async def test_bad_prompt_arguments_are_invalid_params(arguments, words):
    async with client_of("core") as client:
        with pytest.raises(MCPError, match=words) as caught:
            await client.get_prompt("suggestion_generation", arguments)
    assert caught.value.error.code == INVALID_PARAMS


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("context_synthesis", {"vector_results": "[]", "max_context_length": "many"}, "not a number"),
        ("context_synthesis", {}, "missing: vector_results"),
        (
            "coverage_check_template",
            {"document_structure": "1 目的"},
            "Give document_structure, required_categories, or",
        ),
        ("reasoning_template", {"context": "x"}, "Give inference_result, context, or ontology_domain"),
    ],
)
async def test_prompts_say_which_arguments_they_need(name, arguments, words):
    async with client_of("hub") as client:
        with pytest.raises(MCPError, match=words) as caught:
            await client.get_prompt(name, arguments)
    assert caught.value.error.code == INVALID_PARAMS


def test_the_hub_server_has_every_tool_of_the_others():
    others = {item.tool.name for name, blueprint in SERVERS.items() if name != "hub" for item in blueprint.tools}
    assert {item.tool.name for item in SERVERS["hub"].tools} == others | OVERVIEW


@pytest.mark.parametrize(
    ("server", "tool", "listed", "other"),
    [
        ("hub", "vector_search", "limit", "top_k"),
        ("hub", "query_knowledge_graph", "limit", "row_limit"),
        ("hub", "hybrid_retrieve", "strategy", "force_strategy"),
        ("hub", "reason_ontology", "domain", "ontology_domain"),
        ("rag", "vector_search", "top_k", "limit"),
        ("rag", "hybrid_retrieve", "force_strategy", "strategy"),
        ("knowledge", "reason_ontology", "ontology_domain", "domain"),
        ("core", "review_document", "checklist", "master"),
    ],
)
async def test_one_word_stands_for_one_thing_on_the_hub_and_the_others_keep_their_own(server, tool, listed, other):
    async with client_of(server) as client:
        schemas = {one.name: one.input_schema for one in (await client.list_tools()).tools}
        twice = await client.call_tool(tool, {listed: "x", other: "x"})
    assert listed in schemas[tool]["properties"]
    assert other not in schemas[tool]["properties"]
    words = f"{listed} is given twice" if server == "hub" else f"unknown: {other}"
    assert words in twice.content[0].text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": "貸出", "top_k": 1000}, "limit: at most 100 (given: 1000)"),
        ({"query": "貸出", "limit": 1000}, "limit: at most 100 (given: 1000)"),
        ({"query": "貸出", "size": 3}, "unknown: size"),
    ],
)
async def test_the_hub_takes_the_other_names_too_and_names_its_own_in_refusals(arguments, words):
    async with client_of("hub") as client:
        refused = await client.call_tool("vector_search", arguments)
    assert words in refused.content[0].text
    assert "top_k" not in refused.content[0].text
