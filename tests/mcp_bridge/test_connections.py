"""Who is connected: told by web and stdio processes, seen from another one, with the last error."""

from __future__ import annotations

import asyncio
import json
import re
import time

import httpx2
import pytest

from tests.mcp_bridge.conftest import stdio_session
from tests.mcp_bridge.test_http import post

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("site")]
PATIENCE_S = 60


def listed(operator, user: str) -> list[dict]:
    return json.loads(operator("connections", user))


def live_ways(rows: list[dict]) -> set[tuple[str, str, str]]:
    return {way_of(row) for row in rows if row["is_live"]}


def way_of(row: dict) -> tuple[str, str, str]:
    return row["server"], row["transport"], row["user"]


async def until(operator, is_there) -> list[dict]:
    """What the superuser sees, as soon as it is so; processes tell what is new within seconds."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_there(found := await asyncio.to_thread(listed, operator, "admin")):
        assert time.monotonic() < deadline, found
        await asyncio.sleep(0.1)
    return found


async def test_clients_of_every_process_are_listed_with_their_last_error(site, hub, operator):
    async with site.client("rag") as client, stdio_session(hub.stdio("core")) as local:
        await client.call_tool("search", {"query": ""})
        await local.list_tools()
        httpx2.post(f"{site.url}/mcp/core/", headers={"Authorization": "Bearer hub_old"}, json={})
        over_http, over_stdio = ("rag", "http", "admin"), ("core", "stdio", "operator")
        found = await until(operator, lambda rows: {over_http, over_stdio} <= live_ways(rows) and _refused(rows))
    # Of one way there may be several, as the web servers of other tests leave them.
    assert any("query" in row["last_error"] for row in found if way_of(row) == over_http)
    (local,) = (row for row in found if way_of(row) == over_stdio and row["is_live"])
    assert local["errors"] == 0
    assert local["process"] not in {row["process"] for row in found if row["transport"] == "http"}
    assert {row["last_error"] for row in _refused(found)} == {"HTTP 401 Unauthorized"}
    assert not any(row["is_live"] for row in _refused(found))
    assert await until(operator, lambda rows: "stdio" not in {one["transport"] for one in rows})


def _refused(rows: list[dict]) -> list[dict]:
    return [row for row in rows if way_of(row) == ("core", "http", "")]


async def test_people_see_their_own_connections_only(site, operator):
    async with site.client("core", owner="stranger") as client:
        await client.list_tools()
        await until(operator, lambda rows: "stranger" in {one["user"] for one in rows})
    assert {one["user"] for one in listed(operator, "stranger")} == {"stranger"}


async def test_calls_and_errors_over_stdio_are_in_the_metrics_of_the_web_process(site, hub):
    async with stdio_session(hub.stdio("rag")) as local:
        await local.call_tool("get_document_count", {})
        await local.call_tool("search", {"query": 7})
    wanted = (
        'hub_mcp_stdio_tool_calls_total{outcome="ok",tool="get_document_count"}',
        'hub_mcp_stdio_tool_calls_total{outcome="refused",tool="search"}',
        'hub_mcp_stdio_errors_total{code="invalid_arguments"}',
    )
    shown = httpx2.get(f"{site.url}/metrics").text  # the process that counted has ended
    assert [line for line in wanted if f"\n{line} " not in shown] == []


def test_answers_over_mcp_are_counted_for_callers_with_a_token_alone(site):
    def answered() -> float:
        text = httpx2.get(f"{site.url}/metrics").text
        counted = re.search(r'^hub_http_answers_total\{outcome="answered"\} (\S+)', text, re.MULTILINE)
        return float(counted[1]) if counted else 0.0

    before = answered()
    assert post(site, headers={}).status_code == 401
    assert answered() == before
    assert post(site, headers=site.headers()).status_code == 200
    assert answered() == before + 1
