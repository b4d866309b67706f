"""What a model pays, in characters: for the list of tools, and for the text of results."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hub.config import MCP_TOOLSETS
from mcp_bridge.pages import BEGINNING, Place, cut_text, page_of
from mcp_bridge.results import as_text, review_in_brief, review_in_text
from mcp_bridge.servers import SERVERS
from mcp_bridge.toolsets import ALL, SECOND_NAMES, TOOLSETS
from tests.mcp_bridge.test_servers import client_of

pytestmark = pytest.mark.anyio
SEEN_BY_DEFAULT, WHOLE_LIST, BUDGET = 18_000, 45_000, 20_000
NOTICES = [{"code": "partial", "ja": "一部です。", "en": "A part."}]


async def listed(*toolsets):
    async with client_of("hub", toolsets=toolsets) as client:
        return [
            tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools
        ]


def size(value):
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


async def test_the_default_tools_cost_a_model_little():
    tools = await listed("default")
    assert {tool["name"] for tool in tools} == TOOLSETS["default"]
    seen = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools]
    assert size(seen) <= SEEN_BY_DEFAULT


async def test_the_whole_list_is_bounded_and_leaves_out_what_cannot_work(settings):
    tools = await listed(ALL)
    without = {tool["name"] for tool in tools}
    assert size(tools) <= WHOLE_LIST
    settings.CONFIG = settings.CONFIG.model_copy(update={"bedrock_kb_id": "KB12345678"})
    tools = await listed(ALL)
    assert {tool["name"] for tool in tools} - without == {"kb_answer"}
    assert size(tools) <= WHOLE_LIST


def test_every_tool_of_the_hub_is_in_one_toolset():
    names = [item.tool.name for item in SERVERS["hub"].tools]
    assert sorted(name for tools in (*TOOLSETS.values(), SECOND_NAMES) for name in tools) == sorted(names)
    assert {*TOOLSETS, ALL} == set(MCP_TOOLSETS)


async def test_a_tool_that_is_not_listed_may_be_called():
    async with client_of("hub", toolsets=("default",)) as client:
        assert "get_guideline_mapping" not in {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("get_guideline_mapping", {"nonsense": 1})
        assert "Known arguments" in result.content[0].text


def test_a_text_has_no_nulls_or_empty_lists_inside_and_one_language():
    value = {"items": [{"id": 1, "page": None, "path": []}], "notices": NOTICES, "next_cursor": None}
    text = as_text(value, language="ja").text
    assert text == '{"items":[{"id":1}],"notices":[{"code":"partial","ja":"一部です。"}],"next_cursor":null}'


@pytest.mark.parametrize("width", [100, 500, 3_000, 60_000])
def test_pages_keep_the_budget_and_together_have_every_item_once(width):
    value: dict[str, Any] = {
        "total": 60,
        "nodes": [{"id": number, "text": "文" * width} for number in range(60)],
        "edges": [1] * 9_000,
    }
    nodes, edges, place = [], 0, BEGINNING
    while True:
        page = page_of(value, BUDGET, place)
        assert size(page.facts) <= BUDGET
        assert page.facts["total"] == 60
        nodes += page.facts["nodes"]
        edges += len(page.facts["edges"])
        if page.following is None:
            break
        assert page.left_out
        place = Place(given=page.following)
    assert [node["id"] for node in nodes] == list(range(60))
    assert all(node["text"] == "文" * width or "characters left out" in node["text"] for node in nodes)
    assert edges == 9_000
    assert len(value["nodes"]) == 60, "what was given is not changed"


@pytest.mark.parametrize(
    "value",
    [
        {"report_content": "報" * 90_000, "format": "json"},
        {"report_content": "\x01" * 90_000},
        {"structure": {"sections": [{"title": "章"}] * 9_000}},
        {"facts": {str(number): "値" * 100 for number in range(4_000)}},
        {"rows": [[["深" * 100] * 100] * 100]},
        {"rows": [{"cells": [{"text": "文" * 300}] * 10_000}]},
    ],
)
def test_a_page_of_anything_keeps_the_budget_and_ends(value):
    page, pages = page_of(value, BUDGET, BEGINNING), 1
    while page.following is not None:
        assert size(page.facts) <= BUDGET
        page, pages = page_of(value, BUDGET, Place(given=page.following)), pages + 1
    assert size(page.facts) <= BUDGET
    assert 1 <= pages < 60
    assert pages > 1 or page.left_out


def test_a_long_string_says_how_much_is_left_out():
    assert cut_text("文" * 100, 100) == "文" * 100
    assert cut_text("文" * 1_000, 100) == "文" * 40 + "… [960 characters left out]"


async def test_a_thousand_wrong_values_are_refused_within_the_budget():
    async with client_of("hub") as client:
        refused = await client.call_tool("review_document", {"document_id": "doc_1", "check_items": [7] * 1_000})
    assert refused.is_error
    assert "characters left out" in refused.content[0].text
    assert len(refused.content[0].text) <= BUDGET + 100


def review(status="completed"):
    finding = {"message": "応答時間が 2 か所で違います。", "location": {"section_path": ["4 性能"]}, "evidence": []}
    return {
        "review_id": "rev_1",
        "document_id": "doc_1",
        "resource_uri": "smartreviewer://results/rev_1",
        "version": 1,
        "status": status,
        "status_reason": None,
        "progress": 40,
        "waiting_for": None,
        "verdict": "fail",
        "checklist": {"code": "basic-design", "version": 2},
        "summary": {"total_checks": 35, "failed": 1, "execution_time_ms": 12},
        "total_findings": 2,
        "findings": [
            {**finding, "id": "f1", "severity": "minor", "check_item_id": "BD-A01"},
            {**finding, "id": "f2", "severity": "critical", "evidence": [{"quote": "5 秒以内"}]},
        ],
        "suggestions": [{"finding_id": "f2", "content": "「2 秒以内」に直します。"}],
        "results": [
            {"check_item_id": "BD-C09", "verdict": "skipped", "notices": NOTICES},
            {"check_item_id": "BD-C01", "verdict": "pass", "notices": []},
        ],
        "notices": [],
    }


def test_a_review_in_brief_has_the_worst_finding_first_and_what_is_undecided():
    brief = review_in_brief(review())
    text = as_text(review_in_text(brief), language="ja").text
    assert json.loads(text)["findings"][0]["repair"] == "「2 秒以内」に直します。"
    assert json.loads(text)["undecided"] == [{"check_items": ["BD-C09"], "why": ["一部です。"]}]
    assert text.index("5 秒以内") < 1_000
    assert [finding["id"] for finding in brief["findings"]] == ["f2", "f1"]
    assert brief["suggestions"] == [{"finding_id": "f2", "content": "「2 秒以内」に直します。"}]
    assert [one["check_items"] for one in brief["undecided"]] == [["BD-C09"]]


def test_a_review_that_runs_gives_its_state_only():
    brief = review_in_brief(review("running"))
    assert brief["progress"] == 40
    assert "findings" not in brief
    assert "get_review" in brief["next"]
