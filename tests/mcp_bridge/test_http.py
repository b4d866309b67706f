"""The servers over Streamable HTTP: a real web server, a real database, the SDK's client in both eras."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from typing import Any

import httpx2
import pytest
from mcp import MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from mcp_bridge.toolsets import TOOLSETS
from tests.mcp_bridge.conftest import DESIGN, TestSite, start_site, stdio_session, stop_site
from tests.mcp_bridge.pages import read_whole

pytestmark = pytest.mark.anyio
ERAS = ("auto", "legacy")
JAPANESE = re.compile("[ぁ-んァ-ヶ一-龥]")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "試験", "version": "1"}},
}


async def upload(client, name: str, **more: object):
    arguments = {"content": DESIGN, "filename": name, "document_type": "basic_design", "wait_seconds": 60}
    result = await client.call_tool("upload_document", {**arguments, **more})
    assert not result.is_error, result.content
    return result.structured_content


def post(site: TestSite, *, path: str = "/mcp/core/", headers: dict[str, str], body: object = INITIALIZE):
    accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    return httpx2.post(site.url + path, headers={**accept, **headers}, content=json.dumps(body), timeout=30)


def assert_has_all_of(ours: Any, theirs: Any) -> None:
    """Every fact of ``theirs`` is in ``ours``; times are written with more digits through MCP."""
    if isinstance(theirs, dict):
        for name, value in theirs.items():
            if not name.endswith("_at"):
                assert_has_all_of(ours[name], value)
    elif isinstance(theirs, list):
        for mine, other in zip(ours, theirs, strict=True):
            assert_has_all_of(mine, other)
    else:
        assert ours == theirs


@pytest.mark.parametrize("mode", ERAS)
async def test_a_document_is_uploaded_searched_reviewed_and_reported(site, mode):
    reports: list[tuple[float, float | None, str | None]] = []

    async def on_progress(value: float, total: float | None, message: str | None) -> None:
        reports.append((value, total, message))

    async with site.client("hub", mode=mode) as client:
        document = await upload(client, f"基本設計書-{mode}.md")
        assert document["processing_status"] == "completed"
        assert document["structure"]["sections_count"] == 4

        arguments = {"document_id": document["document_id"]}
        answer = await client.call_tool("review_document", arguments, progress_callback=on_progress)
        review = answer.structured_content
        assert review["status"] == "completed"
        assert review["verdict"] in {"pass", "warning", "fail"}
        text = json.loads(answer.content[0].text)
        assert [one["message"] for one in text["findings"]] == [one["message"] for one in review["findings"]]
        assert len(answer.content[0].text) <= 6_000
        assert answer.content[0].text.index(review["findings"][0]["message"]) < 1_000
        full = await read_whole(client, "get_review", {"review_id": review["review_id"], "detail": "full"})
        assert full["metadata"]["checks_executed"] == len(full["results"]) > 0
        assert len(full["findings"]) == len(review["findings"]) == review["total_findings"]
        assert reports
        assert [value for value, _total, _message in reports] == sorted({value for value, _t, _m in reports})

        report = await client.call_tool("create_report", {"review_id": review["review_id"], "format": "markdown"})
        assert "基本設計書" in report.structured_content["report_content"]
        assert report.structured_content["summary"] == review["summary"]


@pytest.mark.parametrize("mode", ERAS)
async def test_search_gives_verbatim_passages_in_the_order_of_the_text(site, mode):
    async with site.client("rag", mode=mode) as client, site.client("core") as core:
        document = await upload(core, f"検索対象-{mode}.md")
        asked = {"query": "検索の応答時間は何秒か", "filter": {"document_id": document["document_id"]}}
        found = (await client.call_tool("search", asked)).structured_content
        near = (await client.call_tool("vector_search", {**asked, "threshold": 0.0})).structured_content
        strict = (
            await client.call_tool("vector_search", {"query": "宇宙探査機の推進剤", "threshold": 0.99})
        ).structured_content

    assert any("3秒以内" in hit["content"] for hit in found["results"])
    for hit in found["results"]:
        assert DESIGN[hit["start_offset"] : hit["end_offset"]] == hit["content"]
    places = [(hit["document_path"], hit["start_offset"]) for hit in found["results"]]
    assert places == sorted(places)
    assert near["chunks"][0]["id"] == near["chunks"][0]["chunk_id"]
    assert near["chunks"][0]["metadata"]["document_id"] == document["document_id"]
    assert strict["chunks"] == []


async def test_rest_and_mcp_tell_the_same_facts(site):
    async with site.client("hub") as client:
        document = await upload(client, "同じ事実.md")
        asked = {"document_id": document["document_id"]}
        review = await read_whole(client, "review_document", {**asked, "detail": "full"})
        listed = (await client.call_tool("list_documents", {"query": "同じ事実"})).structured_content
        items = await read_whole(client, "get_check_items", {"document_type": "basic_design"})
        resources = {str(item.uri): item for item in (await client.list_resources()).resources}
    async with site.client("hub", owner="stranger") as stranger:
        shown = {str(item.uri) for item in (await stranger.list_resources()).resources}

    def rest(path: str) -> object:
        return httpx2.get(f"{site.url}/api/v1{path}", headers=site.headers()).json()

    assert_has_all_of(review, rest(f"/reviews/{review['review_id']}"))
    assert_has_all_of(listed, rest("/documents?q=同じ事実"))
    assert_has_all_of(items["check_items"], rest("/check-items?document_type=basic_design"))
    assert [item["review_id"] for item in listed["items"][0]["reviews"]] == [review["review_id"]]
    assert review["verdict"] in resources[review["resource_uri"]].title
    assert review["resource_uri"] not in shown


async def test_binary_content_is_read_from_base64_and_other_text_is_refused_in_words(site):
    async with site.client("core") as client:
        encoded = base64.b64encode(DESIGN.encode()).decode()
        document = await upload(client, "符号化.md", content=encoded, content_encoding="base64")
        refused = await client.call_tool("upload_document", {"content": "ただの文章", "filename": "設計書.pdf"})
    assert document["character_count"] == len(DESIGN)
    assert refused.is_error
    assert "content is not base64" in refused.content[0].text


async def test_hidden_and_missing_documents_answer_alike(site):
    async with site.client("core") as client:
        document = await upload(client, "見えない文書.md")
    async with site.client("core", owner="stranger") as stranger:
        texts = []
        for document_id in (document["document_id"], "doc_00000000000000000000"):
            result = await stranger.call_tool("review_document", {"document_id": document_id})
            with pytest.raises(MCPError) as caught:
                await stranger.read_resource(f"smartreviewer://documents/{document_id}")
            texts.append((result.content[0].text + caught.value.error.message).replace(document_id, "ID"))
            assert caught.value.error.code == -32602
        found = await stranger.call_tool("list_documents", {})
    assert texts[0] == texts[1]
    assert found.structured_content["items"] == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_address_asks_for_toolsets(site, mode):
    async with site.client("hub/?toolsets=default", mode=mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLSETS["default"]
        counted = await client.call_tool("get_document_count", {})
        assert counted.structured_content["documents"] >= 0
    async with site.client("hub/?toolsets=operation", mode=mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLSETS["operation"]


async def test_an_unknown_toolset_is_refused_with_the_known_ones(site):
    async with site.client("hub/?toolsets=defalt", mode="legacy") as client:
        with pytest.raises(MCPError, match=r"defalt.*default, review"):
            await client.list_tools()


async def test_a_token_sees_the_tools_of_its_scopes_only(site):
    async with site.client("hub", owner="searcher") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert "search" in names
    assert not names & {"review_document", "upload_document", "cancel_review"}


async def test_tools_for_which_the_caller_has_no_right_anywhere_are_not_listed(site):
    async with site.client("hub", owner="stranger") as client:  # every scope, and no role
        names = {tool.name for tool in (await client.list_tools()).tools}
        refused = await client.call_tool("run_evaluation", {"dataset_id": "gold"})
    assert {"search", "list_collections", "get_review"} <= names
    assert not names & {"upload_document", "review_document", "cancel_review", "embed_document", "run_evaluation"}
    assert "hub_role_needed" in refused.content[0].text


@pytest.mark.parametrize(
    ("language", "is_english"), [("", False), ("ja", False), ("*", False), ("en-US,en;q=0.9", True)]
)
async def test_facts_come_in_the_language_of_the_request(site, language, is_english):
    async with site.client("core", language=language) as client:
        items = (await client.call_tool("get_check_items", {"checklist": "basic-design"})).structured_content
    assert any(JAPANESE.search(item["name"]) for item in items["check_items"]) != is_english


async def test_ids_types_and_areas_are_completed(site):
    async with site.client("hub") as client:
        document = await upload(client, "補完.md")
        template = ResourceTemplateReference(uri="smartreviewer://documents/{id}")
        ids = await client.complete(template, {"name": "id", "value": document["document_id"][:8]})
        prompt = PromptReference(name="review_document_template")
        types = await client.complete(prompt, {"name": "document_type", "value": "basic"})
        text = await client.get_prompt(
            "review_document_template", {"document_type": "基本設計書", "focus_areas": "性能、運用"}
        )
    assert document["document_id"] in ids.completion.values
    assert types.completion.values == ["basic_design"]
    assert "- 性能\n- 運用" in text.messages[0].content.text


async def test_calls_do_not_wait_for_each_other(site):
    async with site.client("hub") as client:
        document = await upload(client, "同時.md")
        calls = [client.call_tool("search", {"query": f"予約 {number}"}) for number in range(15)]
        results = await asyncio.gather(
            client.call_tool("review_document", {"document_id": document["document_id"]}), *calls
        )
    assert not any(result.is_error for result in results)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer hub_wrong"}, {"Authorization": "Basic eDp5"}])
def test_without_a_valid_token_nothing_is_served(site, headers):
    answer = post(site, headers=headers)
    assert answer.status_code == 401
    metadata = answer.headers["www-authenticate"].partition('resource_metadata="')[2].partition('"')[0]
    assert httpx2.get(metadata).json()["resource"] == f"{site.url}/mcp/core/"


def test_pages_of_other_sites_and_other_hosts_are_refused_before_the_token_is_looked_at(site):
    foreign = post(site, headers=site.headers(Origin="https://evil.example"))
    rebound = post(site, headers=site.headers(Host="evil.example"))
    own = post(site, headers=site.headers(Origin=site.url))
    assert foreign.status_code == 403
    assert "ALLOWED_HOSTS" in foreign.json()["error"]["message"]
    assert rebound.status_code == 421
    assert own.status_code == 200


def test_a_path_without_its_last_slash_is_served_too(site):
    assert post(site, path="/mcp/core", headers=site.headers()).status_code == 200


def test_a_body_above_the_limit_is_refused_with_the_way_to_upload_it(site):
    body = {**INITIALIZE, "padding": "あ" * 1_000_000}
    answer = post(site, headers=site.headers(), body=body)
    assert answer.status_code == 413
    assert "/api/v1/documents" in answer.json()["error"]["message"]


def test_a_body_that_is_no_json_is_a_parse_error(site):
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    answer = httpx2.post(site.url + "/mcp/core/", headers=site.headers(**headers), content="{")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)


def test_unknown_servers_are_not_found(site):
    assert post(site, path="/mcp/nothing/", headers=site.headers()).status_code == 404


def test_http_can_be_switched_off(hub):
    site = start_site(hub, MCP_TRANSPORTS="stdio")
    try:
        assert post(site, headers=site.headers()).status_code == 404
    finally:
        stop_site(site)


async def test_check_items_come_in_pages_that_fit_the_output_budget(hub):
    async with stdio_session(hub.stdio("core", HUB_OUTPUT_BUDGET_CHARS="5000")) as client:
        pages: list[dict[str, Any]] = []
        cursor, asked = None, {"checklist": "basic-design"}
        while cursor or not pages:
            answer = await client.call_tool("get_check_items", {**asked, **({"cursor": cursor} if cursor else {})})
            pages.append(answer.structured_content)
            cursor = pages[-1]["next_cursor"]
        other = await client.call_tool("get_check_items", {"cursor": pages[0]["next_cursor"]})
    shown = [item["id"] for page in pages for item in page["check_items"]]
    assert len(pages) > 2
    assert len(shown) == len(set(shown)) == pages[0]["total"]
    assert all(len(json.dumps(page["check_items"], ensure_ascii=False)) < 6000 for page in pages)
    assert other.is_error
    assert "cursor" in other.content[0].text


def test_what_a_browser_is_shown_of_mcp_may_load_run_and_frame_nothing(site: TestSite) -> None:
    for answer in (
        httpx2.get(site.url + "/mcp/core/"),
        post(site, headers={}),
        post(site, headers=site.headers()),
    ):
        policies = answer.headers.get_list("content-security-policy")
        assert len(policies) == 1
        assert "default-src 'none'" in policies[0]
        assert "camera=()" in answer.headers["permissions-policy"]
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"]
