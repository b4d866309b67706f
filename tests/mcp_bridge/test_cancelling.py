"""A call that its client cancels is worked on no more, over both transports and in both protocol eras."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from hub.access.principals import local_operator
from mcp_bridge.caller import Caller, caller_context
from mcp_bridge.servers import waiting
from tests.mcp_bridge.conftest import stdio_session

pytestmark = pytest.mark.anyio
# Far more combinations than can be looked at in the minute that the query may take.
ENDLESS = "MATCH (a), (b), (c), (d) WHERE a.name + b.name + c.name + d.name CONTAINS 'zzzz' RETURN count(*)"
WITHIN_S = 30
BUSY_S = 0.3


def processor_seconds() -> dict[str, float]:
    """How long each process that runs queries for a server of this test has worked."""
    seconds = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            facts = (process / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"knowledge.graph.cypher.child" in command and facts[0] != "Z":
            seconds[process.name] = (int(facts[11]) + int(facts[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


async def until(condition) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not condition():
            await asyncio.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(("transport", "mode"), [("http", "auto"), ("http", "legacy"), ("stdio", "auto")])
async def test_a_cancelled_query_is_worked_on_no_more(request, hub, transport, mode):
    opened = (
        request.getfixturevalue("site").client("hub", mode=mode)
        if transport == "http"
        else stdio_session(hub.stdio("hub"), mode=mode)
    )
    async with opened as client:
        counted = await client.call_tool("query_knowledge_graph", {"cypher_query": "MATCH (n) RETURN count(n) AS n"})
        assert counted.structured_content["records"][0]["n"] > 100  # what ships: guidelines and check items
        idle = processor_seconds()
        call = asyncio.create_task(
            client.call_tool("query_knowledge_graph", {"cypher_query": ENDLESS, "timeout_ms": 60_000})
        )
        await until(lambda: any(now > idle.get(name, 0) + BUSY_S for name, now in processor_seconds().items()))
        busy = {name for name, now in processor_seconds().items() if now > idle.get(name, 0) + BUSY_S}
        call.cancel()
        await until(lambda: not busy & set(processor_seconds()))
        again = await client.call_tool("query_knowledge_graph", {"cypher_query": "RETURN 1 AS one"})
    assert again.structured_content["records"] == [{"one": 1}]


async def test_a_review_whose_call_is_cancelled_goes_on_where_no_worker_would_do_it(monkeypatch):
    begun, finished = threading.Event(), threading.Event()

    def wait(seconds: float | None) -> bool:
        (begun if seconds is not None else finished).set()
        return seconds is None

    monkeypatch.setattr(waiting, "worker_is_alive", lambda: False)
    monkeypatch.setattr(waiting, "_report", lambda _ctx, _progress: asyncio.sleep(0))
    with caller_context(Caller(principal=local_operator(), is_local=True)):
        call = asyncio.create_task(
            waiting.wait_or_leave_running(None, name="review-1", wait=wait, progress=lambda: (0, ""), limit_s=60)
        )
    assert await asyncio.to_thread(begun.wait, WITHIN_S)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.to_thread(finished.wait, WITHIN_S)
