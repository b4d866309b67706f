"""The client's model as a judge: real clients of both eras against a real server without a model of its own."""

from __future__ import annotations

import json

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import REQUEST_TIMEOUT, CreateMessageResult, TextContent

from tests.mcp_bridge.conftest import DESIGN, stdio_session

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
    result = await client.call_tool("review_document", {**asked, "options": options, "detail": "full"})
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
async def test_a_client_is_told_what_kind_of_model_is_wanted_and_what_for(site, model_items, mode):
    wanted = []
    answer = answering(GROUND, [])

    async def sample(context, params) -> CreateMessageResult:
        wanted.append(params)
        return await answer(context, params)

    async with site.client("core", mode=mode, sampling_callback=sample) as client:
        facts = await review(client, f"要望-{mode}.md", judge="sampling")
    assert len(wanted) == 2
    for params in wanted:
        assert params.model_preferences.intelligence_priority == 0.8
        assert params.include_context == "none"
        assert params.stop_sequences == ["<passage-"]
        assert params.metadata["review_id"] == facts["review_id"]
        assert params.metadata["purpose"] == "judgement"
        assert params.metadata["request_id"]
        assert params.temperature == 0


async def test_a_client_that_says_it_timed_out_is_asked_for_half_three_times_and_then_it_is_an_error(site, model_items):
    asked: list[str] = []

    async def too_slow(_context, params) -> CreateMessageResult:
        asked.append(params.messages[0].content.text)
        raise MCPError(code=REQUEST_TIMEOUT, message="timed out")

    async with site.client("core", mode="legacy", sampling_callback=too_slow) as client:
        facts = await review(client, "遅い.md", judge="sampling")
    lengths = [len(text) for text in asked]
    assert len(lengths) > 2
    assert min(lengths) < max(lengths) / 1.2
    assert {item["verdict"] for item in facts["results"]} == {"error"}
    notices = [{notice["code"] for notice in item["notices"]} for item in facts["results"]]
    assert all({"llm_timeout", "llm_context_halved"} <= codes for codes in notices)


async def test_after_a_time_out_the_smaller_request_is_judged(site, model_items):
    asked: list[str] = []
    answer = answering(GROUND, asked)

    async def slow_with_much(context, params) -> CreateMessageResult:
        if len(asked) < 1:
            asked.append(params.messages[0].content.text)
            raise MCPError(code=REQUEST_TIMEOUT, message="timed out")
        return await answer(context, params)

    async with site.client("core", mode="legacy", sampling_callback=slow_with_much) as client:
        facts = await review(client, "半分.md", judge="sampling")
    codes = [{notice["code"] for notice in item["notices"]} for item in facts["results"]]
    assert "llm_context_halved" in codes[0]
    assert "llm_context_halved" not in codes[1]
    assert {item["method"] for item in facts["results"]} == {"llm"}


@pytest.mark.parametrize("mode", ERAS)
async def test_a_clients_invented_quote_makes_no_pass(site, model_items, mode):
    async with site.client("core", mode=mode, sampling_callback=answering("本文にない文である。", [])) as client:
        facts = await review(client, f"捏造-{mode}.md")
    assert {item["verdict"] for item in facts["results"]} == {"error"}


@pytest.mark.parametrize("end", ["withdraw", "lower"])
async def test_a_client_is_sent_nothing_more_of_a_document_once_its_user_may_not_read_it(
    site, operator, model_items, end
):
    asked: list[str] = []
    answer = answering(GROUND, asked)

    async def ended_meanwhile(context, params) -> CreateMessageResult:
        result = await answer(context, params)
        await anyio.to_thread.run_sync(operator, end, "stranger")
        return result

    operator("let_review", "stranger")
    try:
        client = site.client("core", owner="stranger", mode="legacy", sampling_callback=ended_meanwhile)
        async with client as connected:
            uploaded = await connected.call_tool(
                "upload_document", {"content": f"{DESIGN}\n{end}\n", "filename": f"{end}.md", "wait_seconds": 60}
            )
            asks = {"document_id": uploaded.structured_content["document_id"], "checklist": "basic-design"}
            asks["check_items"] = ["BD-C01", "BD-C02"]
            result = await connected.call_tool(
                "review_document", {**asks, "options": {"judge": "sampling"}, "detail": "full"}
            )
    finally:
        operator("forget_rights", "stranger")
    assert len(asked) == 1, "asked again with the document's text"
    assert result.is_error
    assert GROUND not in result.model_dump_json()


async def test_an_answer_that_can_not_be_stored_is_an_error_of_its_checks(site, model_items):
    async def with_nul(_context, _params) -> CreateMessageResult:
        facts = {"reason": "\x00\ud800", "grounds": [], "findings": [], "score": 90, "verdict": "pass"}
        text = TextContent(type="text", text=json.dumps(facts))
        return CreateMessageResult(role="assistant", content=text, model="m", stop_reason="endTurn")

    async with site.client("core", mode="legacy", sampling_callback=with_nul) as client:
        facts = await review(client, "制御文字.md")
    assert facts["status"] == "completed"
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


@pytest.mark.parametrize("mode", ERAS)
async def test_a_second_callers_model_is_asked_itself(site, model_items, mode):
    """What the first one said of the same text is not served to the second."""
    texts: list[list[str]] = [[], []]
    for asked in texts:
        async with site.client("core", mode=mode, sampling_callback=answering(GROUND, asked)) as client:
            facts = await review(client, f"二人-{mode}.md", judge="sampling")
        assert {item["judged_by"] for item in facts["results"]} == {"callers_model"}
        assert {"judged_by_callers_model"} == {notice["code"] for notice in facts["notices"]}
    assert texts[0] == texts[1]
    assert len(texts[1]) == 2


class _WithoutStream(httpx2.AsyncHTTPTransport):
    """A way to the server on which the client's GET stream does not come about, as behind some gateways."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(405, request=request)
        return await super().handle_async_request(request)


async def test_a_client_without_a_stream_of_its_own_is_asked_on_the_calls_stream(site, model_items):
    asked: list[str] = []
    async with (
        httpx2.AsyncClient(headers=site.headers(), timeout=60, transport=_WithoutStream()) as http,
        Client(
            streamable_http_client(f"{site.url}/mcp/core/", http_client=http),
            mode="legacy",
            sampling_callback=answering(GROUND, asked),
        ) as client,
    ):
        with anyio.fail_after(100):  # it hung for 300 s
            facts = await review(client, "流れなし.md", judge="sampling", wait_seconds=60)
    assert len(asked) == 2
    assert {item["verdict"] for item in facts["results"]} == {"pass"}


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_a_client_that_does_not_answer_is_waited_for_no_longer_than_the_call_may_take(
    site, hub, model_items, transport
):
    """The first answer is kept; the second never comes."""
    asked: list[str] = []
    answer = answering(GROUND, asked)

    async def hesitate(context, params) -> CreateMessageResult:
        if asked:
            await anyio.sleep_forever()
        return await answer(context, params)

    opened = (
        site.client("core", mode="legacy", sampling_callback=hesitate)
        if transport == "http"
        else stdio_session(hub.stdio("core"), mode="legacy", sampling_callback=hesitate)
    )
    async with opened as client:
        with anyio.fail_after(120):  # it was 300 s, whatever the call said
            facts = await review(client, f"黙る-{transport}.md", judge="sampling", wait_seconds=12)
    assert [item["verdict"] for item in facts["results"]] == ["pass", "skipped"]
    assert facts["results"][1]["notices"][0]["code"] == "sampling_unavailable"
    assert facts["status"] == "completed"
