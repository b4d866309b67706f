"""The fixture server: who gets at it, and what the official suite says of it."""

from __future__ import annotations

import pytest
from django.conf import settings
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult, TextContent

from mcp_bridge.http import McpApps
from tools.conformance import suite
from tools.conformance.server import build_fixture

pytestmark = pytest.mark.anyio


async def test_the_fixture_needs_a_setting_and_no_token(site):
    async with Client(streamable_http_client(f"{site.url}/mcp/conformance/")) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert "test_simple_text" in names
    assert not McpApps(()).serves("/mcp/conformance/")


async def test_the_fixture_answers_to_this_machine_only():
    sent = []

    async def send(message):
        sent.append(message)

    apps = McpApps((), conformance=True)
    headers = [(b"host", settings.ALLOWED_HOSTS[0].encode())]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp/conformance/",
        "headers": headers,
        "client": ("192.0.2.1", 4242),
    }
    await apps(scope, None, send)
    assert sent[0]["status"] == 403
    assert b"this machine only" in sent[1]["body"]


@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
async def test_rounds_of_questions_keep_their_state(mode):
    asked = []

    async def answer(_ctx, params):
        asked.append(params.message)
        field = params.requested_schema["required"][0]
        return ElicitResult(action="accept", content={field: "青" if field == "color" else "花子"})

    async with Client(build_fixture(b"k" * 32), mode=mode, elicitation_callback=answer) as client:
        result = await client.call_tool("test_input_required_result_multi_round", {})
    assert len(asked) == 2
    assert [part.text for part in result.content if isinstance(part, TextContent)] == ["花子 likes 青."]


async def test_every_scored_scenario_of_both_revisions_passes(site):
    try:
        command = suite.suite_command()
    except suite.CannotRun as error:
        pytest.skip(str(error))
    if len(command) != 2 or "npx" in command[0]:
        pytest.skip("CONFORMANCE is not set, and a test downloads nothing; `make conformance` does")
    url = f"{site.url}/mcp/conformance/".replace("127.0.0.1", "localhost")
    outcomes = [suite.run_suite(command, url, revision) for revision in suite.REVISIONS]
    assert [outcome.revision for outcome in outcomes if not outcome.ok] == []
