"""How often a token may call and how many sessions its owner may hold, in both protocol eras and over stdio."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from mcp import MCPError

from tests.mcp_bridge.conftest import start_site, stdio_session, stop_site
from tests.mcp_bridge.test_http import ERAS, post

pytestmark = pytest.mark.anyio
MOST_CALLS = 30
MOST_SESSIONS = 5


@pytest.fixture(scope="module")
def narrow(hub):
    """A server with narrow limits of calls."""
    site = start_site(hub, HUB_RATE_LIMIT_PER_MINUTE=str(MOST_CALLS))
    yield site
    stop_site(site)


@pytest.fixture(scope="module")
def few_sessions(hub):
    """A server with few sessions: five of a user, seven in all."""
    limits: Any = {"HUB_MCP_MAX_SESSIONS_PER_USER": str(MOST_SESSIONS), "HUB_MCP_MAX_SESSIONS": str(MOST_SESSIONS + 2)}
    site = start_site(hub, **limits)
    yield site
    stop_site(site)


async def call_until_refused(client) -> MCPError:
    # twice as many and a few: even when a minute begins in between, one of the two gets too many
    for _number in range(2 * MOST_CALLS + 5):
        try:
            await client.call_tool("get_document_count", {})
        except MCPError as error:
            return error
    raise AssertionError("every call was answered")


@pytest.mark.parametrize("mode", ERAS)
async def test_calls_of_a_token_beyond_the_limit_are_refused_in_words(narrow, operator, mode):
    narrow.hub.tokens[mode] = operator("make", f"caller-{mode}")
    operator("widen", f"caller-{mode}")
    async with narrow.client("rag", owner=mode, mode=mode) as client:
        error = (await call_until_refused(client)).error
    assert error.code == -32603
    assert "HUB_RATE_LIMIT_PER_MINUTE" in error.message
    assert error.data["retryable"] is True


async def test_the_answer_beyond_the_limit_is_429_with_a_time_to_come_back(narrow, operator):
    narrow.hub.tokens["poster"] = operator("make", "poster")
    answers = [post(narrow, headers=narrow.headers("poster")) for _number in range(2 * MOST_CALLS + 5)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert {answer.status_code for answer in answers} == {200, 429}
    assert 1 <= int(refused[0].headers["Retry-After"]) <= 60
    assert refused[0].json()["error"]["data"]["retryable"] is True


async def test_calls_over_stdio_are_counted_by_their_token_and_the_local_operators_are_not(hub, operator):
    token = operator("make", "by-pipe")
    operator("widen", "by-pipe")
    limit = {"HUB_RATE_LIMIT_PER_MINUTE": str(MOST_CALLS)}
    async with stdio_session(hub.stdio("rag", HUB_TOKEN=token, **limit)) as client:
        error = (await call_until_refused(client)).error
        assert "HUB_RATE_LIMIT_PER_MINUTE" in error.message
    async with stdio_session(hub.stdio("rag", **limit)) as client:
        for _number in range(2 * MOST_CALLS + 5):
            assert not (await client.call_tool("get_document_count", {})).is_error


async def test_requests_that_begin_no_session_leave_none(few_sessions, operator):
    few_sessions.hub.tokens["breaker"] = operator("make", "breaker")
    answers = [
        post(few_sessions, headers=few_sessions.headers("breaker"), body={"jsonrpc": "2.0"})
        for _number in range(MOST_SESSIONS + 3)
    ]
    assert {answer.status_code for answer in answers} == {400}


async def test_a_user_holds_so_many_sessions_and_another_may_still_begin_one(few_sessions):
    answers = [post(few_sessions, headers=few_sessions.headers("admin")) for _number in range(MOST_SESSIONS + 1)]
    assert [answer.status_code for answer in answers] == [200] * MOST_SESSIONS + [429]
    assert "HUB_MCP_MAX_SESSIONS_PER_USER" in answers[-1].json()["error"]["message"]
    assert int(answers[-1].headers["Retry-After"]) > 0

    others = [post(few_sessions, headers=few_sessions.headers("stranger")) for _number in range(3)]
    assert [answer.status_code for answer in others] == [200, 200, 503]
    assert "HUB_MCP_MAX_SESSIONS)" in others[-1].json()["error"]["message"]

    async with few_sessions.client("rag", mode="auto") as client:  # 2026-07-28 has no sessions
        assert not (await client.call_tool("get_document_count", {})).is_error

    ended = {"Mcp-Session-Id": answers[0].headers["Mcp-Session-Id"]}
    url = f"{few_sessions.url}/mcp/core/"
    assert httpx2.delete(url, headers=few_sessions.headers("admin", **ended), timeout=30).status_code == 200
    assert post(few_sessions, headers=few_sessions.headers("admin")).status_code == 200


@pytest.mark.parametrize("field", ["_meta", "arguments"])
def test_a_request_that_lists_too_much_is_refused_before_anything_is_made_of_it(site, field):
    call = {"name": "get_document_count", "arguments": {}}
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {**call, field: {f"k{number}": 0 for number in range(4000)}},
    }
    answer = post(site, path="/mcp/rag/", headers=site.headers(), body=body)
    assert answer.status_code == 413
    assert "3000" in answer.json()["error"]["message"]
