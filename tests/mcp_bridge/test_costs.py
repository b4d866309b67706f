"""What a model pays, in characters: for the list of tools, and for the text of results."""

from __future__ import annotations

import json

import pytest

from hub.config import MCP_TOOLSETS
from mcp_bridge.results import as_text, cut_text, review_in_brief
from mcp_bridge.servers import SERVERS
from mcp_bridge.toolsets import ALL, TOOLSETS
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
    assert {tool["name"] for tool in await listed(ALL)} - without == {"kb_answer"}


def test_every_tool_of_the_hub_is_in_one_toolset():
    names = [item.tool.name for item in SERVERS["hub"].tools]
    assert sorted(name for tools in TOOLSETS.values() for name in tools) == sorted(names)
    assert {*TOOLSETS, ALL} == set(MCP_TOOLSETS)


async def test_a_tool_that_is_not_listed_may_be_called():
    async with client_of("hub", toolsets=("default",)) as client:
        assert "get_guideline_mapping" not in {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("get_guideline_mapping", {"nonsense": 1})
        assert "Known arguments" in result.content[0].text


def test_a_text_has_no_nulls_or_empty_lists_inside_and_one_language():
    value = {"items": [{"id": 1, "page": None, "path": []}], "notices": NOTICES, "next_cursor": None}
    text = as_text(value, budget=BUDGET, language="ja", arguments=frozenset()).text
    assert text == '{"items":[{"id":1}],"notices":[{"code":"partial","ja":"一部です。"}],"next_cursor":null}'


@pytest.mark.parametrize("width", [100, 500, 3_000, 60_000])
def test_a_text_keeps_the_budget_at_whole_items_and_says_what_to_call_next(width):
    value = {"items": [{"id": number, "text": "文" * width} for number in range(400)], "next_cursor": "abc"}
    text = as_text(value, budget=BUDGET, language="en", arguments=frozenset({"limit", "cursor"})).text
    assert len(text) <= BUDGET
    read = json.loads(text)
    assert read["left_out"]["items"] == 400 - len(read["items"])
    assert read["items"][-1]["id"] == len(read["items"]) - 1
    assert f"limit={len(read['items'])}" in read["left_out"]["next"]
    assert read["next_cursor"] is None, "the cursor leads past what is left out"
    assert len(value["items"]) == 400, "structured content stays whole"


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
    text = as_text(brief, budget=BUDGET, language="ja", arguments=frozenset()).text
    assert text.index("5 秒以内") < 1_000
    assert [finding["id"] for finding in brief["findings"]] == ["f2", "f1"]
    assert brief["findings"][0]["repair"] == "「2 秒以内」に直します。"
    assert [one["check_item_id"] for one in brief["undecided"]] == ["BD-C09"]


def test_a_review_that_runs_gives_its_state_only():
    brief = review_in_brief(review("running"))
    assert brief["progress"] == 40
    assert "findings" not in brief
    assert "get_review" in brief["next"]
