"""The client's model as a judge: real clients of both eras against a real server without a model of its own."""

from __future__ import annotations

import json

import pytest
from mcp import MCPError
from mcp.types import CreateMessageResult, TextContent

from tests.mcp_bridge.conftest import DESIGN

pytestmark = pytest.mark.anyio
ERAS = ("auto", "legacy")
GROUND = "利用者検索の応答時間は3秒以内とする。"


def answering(quote: str, asked: list[str], *, verdict: str = "pass"):
    """A client whose model gives one judgement."""

    async def sample(_context, params) -> CreateMessageResult:
        asked.append(params.messages[0].content.text)
        facts = {
            "reason": "本文に定めがある。",
            "grounds": [{"passage": "p1", "quote": quote}],
            "findings": [],
            "score": 90,
            "verdict": verdict,
        }
        text = TextContent(type="text", text=json.dumps(facts, ensure_ascii=False))
        return CreateMessageResult(role="assistant", content=text, model="利用者のモデル", stop_reason="endTurn")

    return sample


async def review(client, name: str, **options):
    uploaded = await client.call_tool(
        "upload_document",
        {"content": f"{DESIGN}\n{name}\n", "filename": name, "document_type": "basic_design", "wait_seconds": 60},
    )
    asked = {"document_id": uploaded.structured_content["document_id"], "check_items": ["BD-C01", "BD-C02"]}
    result = await client.call_tool("review_document", {**asked, "options": options})
    assert not result.is_error, result.content
    return result.structured_content


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("judge", ["auto", "sampling"])
async def test_the_clients_model_judges_what_rules_cannot(site, model_items, mode, judge):
    asked: list[str] = []
    async with site.client("core", mode=mode, sampling_callback=answering(GROUND, asked)) as client:
        facts = await review(client, f"標本-{mode}-{judge}.md", judge=judge)
    assert [(item["verdict"], item["method"]) for item in facts["results"]] == [("pass", "llm")] * 2
    assert facts["results"][0]["judgement"]["provider"] == "sampling"
    assert facts["status"] == "completed"
    assert facts["usage"]["tokens_in"] > 0
    assert len(asked) == 2
    assert GROUND in asked[0]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_clients_invented_quote_makes_no_pass(site, model_items, mode):
    async with site.client("core", mode=mode, sampling_callback=answering("本文にない文である。", [])) as client:
        facts = await review(client, f"捏造-{mode}.md")
    assert {item["verdict"] for item in facts["results"]} == {"error"}


async def test_a_client_that_refuses_loses_nothing(site, model_items):
    async def refuse(_context, _params):
        raise MCPError(code=-1, message="the user said no")

    async with site.client("core", mode="legacy", sampling_callback=refuse) as client:
        facts = await review(client, "拒否.md")
    assert {item["verdict"] for item in facts["results"]} == {"skipped"}
    assert {notice["code"] for item in facts["results"] for notice in item["notices"]} == {"sampling_unavailable"}
    assert facts["status"] == "completed"


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_without_a_model_gets_its_checks_skipped_with_the_reason(site, model_items, mode):
    async with site.client("core", mode=mode) as client:
        facts = await review(client, f"なし-{mode}.md", judge="sampling")
    assert {item["verdict"] for item in facts["results"]} == {"skipped"}
    assert {notice["code"] for item in facts["results"] for notice in item["notices"]} == {"sampling_unavailable"}
