"""What belongs to one caller is of no use to another: sessions, and the sealed state of a question to a model."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.mcp_bridge.test_http import INITIALIZE, upload

pytestmark = pytest.mark.anyio
ACCEPT = {"Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
}


def test_a_session_of_another_person_is_not_there(site):
    url = f"{site.url}/mcp/core/"
    opened = httpx2.post(url, headers=site.headers(**ACCEPT), json=INITIALIZE, timeout=30)
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}
    mine, foreign = site.headers(**ACCEPT, **session), site.headers("stranger", **ACCEPT, **session)
    refused = [
        httpx2.post(url, headers=foreign, json=LIST, timeout=30),
        httpx2.get(url, headers=foreign, timeout=30),
        httpx2.delete(url, headers=foreign, timeout=30),
    ]
    kept = httpx2.post(url, headers=mine, json=LIST, timeout=30)
    assert [answer.status_code for answer in refused] == [404] * 3
    assert not any("tools" in answer.text for answer in refused)
    assert kept.status_code == 200  # nobody else could end it


def ask(site, arguments: dict, *, owner: str = "admin", **answers: object) -> dict:
    """Call review_document as a client of 2026-07-28 that offers its model; gives the JSON-RPC answer."""
    params = {"name": "review_document", "arguments": arguments, "_meta": META, **answers}
    body = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
    routing = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "review_document"}
    answer = httpx2.post(
        f"{site.url}/mcp/core/", headers=site.headers(owner, **ACCEPT, **routing), json=body, timeout=60
    )
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    return json.loads(lines[-1] if lines else answer.text)


@pytest.mark.usefixtures("model_items")
async def test_the_state_of_a_question_serves_its_own_call_and_caller_only(site):
    async with site.client("core") as client:
        document = await upload(client, "封印.md")
    arguments = {"document_id": document["document_id"], "check_items": ["BD-C01"], "options": {"judge": "sampling"}}
    asked = ask(site, arguments)["result"]
    assert asked["resultType"] == "input_required"
    state = asked["requestState"]
    refusal = {"role": "assistant", "content": {"type": "text", "text": "{}"}, "model": "test"}
    answers: Any = {"inputResponses": dict.fromkeys(asked["inputRequests"], refusal)}
    middle = len(state) // 2
    tampered = state[:middle] + ("A" if state[middle] != "A" else "B") + state[middle + 1 :]
    for owner, given, called in (
        ("admin", tampered, arguments),
        ("stranger", state, arguments),
        ("admin", state, {**arguments, "check_items": ["BD-C02"]}),
    ):
        error = ask(site, called, owner=owner, requestState=given, **answers)["error"]
        assert (error["code"], "requestState" in error["message"]) == (-32602, True)
    assert "result" in ask(site, arguments, requestState=state, **answers)
