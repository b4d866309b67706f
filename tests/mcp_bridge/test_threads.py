"""The threads of MCP calls are shared out among callers."""

from __future__ import annotations

import asyncio
import threading

import pytest

from hub.access.principals import ALL_SCOPES, Classification, Principal
from mcp_bridge.caller import Caller, caller_context
from mcp_bridge.threads import MAX_THREADS, in_thread

WITHIN_S = 30

pytestmark = pytest.mark.anyio


def person(user_id: int) -> Caller:
    principal = Principal(name=f"p{user_id}", user_id=user_id, scopes=ALL_SCOPES, ceiling=Classification.C1)
    return Caller(principal=principal)


async def test_calls_of_one_caller_that_take_long_keep_nobody_else_waiting():
    begun, go_on = threading.Semaphore(0), threading.Event()

    def work() -> bool:
        begun.release()
        return go_on.wait(WITHIN_S)

    try:
        with caller_context(person(1)):
            flood = [asyncio.create_task(in_thread(work)) for _ in range(2 * MAX_THREADS)]
        for _ in range(MAX_THREADS // 4):
            assert await asyncio.to_thread(begun.acquire, timeout=WITHIN_S)
        with caller_context(person(2)):
            assert await asyncio.wait_for(in_thread(lambda: "answered"), WITHIN_S / 2) == "answered"
        assert await asyncio.wait_for(in_thread(lambda: "the server's own"), WITHIN_S / 2)
        assert not begun.acquire(blocking=False)
    finally:
        go_on.set()
    assert await asyncio.gather(*flood) == [True] * len(flood)
