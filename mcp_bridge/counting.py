"""What the servers count: over HTTP in the web process, over stdio for the web process that shows it in /metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from hub.core.measures import ERRORS, TOOL_CALLS
from hub.core.shared_measures import STDIO_CALLS, STDIO_ERRORS, Point, count
from mcp_bridge.caller import current_caller
from mcp_bridge.threads import in_thread

TELL_EVERY_S = 3.0

_pending: list[Point] = []


def count_call(tool: str, outcome: str) -> None:
    """Count a tool call of the running request; both come from closed sets."""
    if _is_over_stdio():
        _pending.append(Point(family=STDIO_CALLS, labels=(tool, outcome), value=1))
    else:
        TOOL_CALLS.labels(tool, outcome).inc()


def count_error(code: str) -> None:
    """Count an error that the running request's caller is told, by its stable code."""
    if _is_over_stdio():
        _pending.append(Point(family=STDIO_ERRORS, labels=(code,), value=1))
    else:
        ERRORS.labels("mcp", code).inc()


def _is_over_stdio() -> bool:
    try:
        return current_caller().is_local
    except LookupError:  # refused before anybody knew who calls
        return False


def tell_counts() -> None:
    """Add what was counted over stdio to the sums of all processes; not before, since a call waits for nothing."""
    global _pending
    points, _pending = _pending, []
    if points:
        count(*points)


@asynccontextmanager
async def counts_told() -> AsyncIterator[None]:
    """Tell what was counted every three seconds inside the block."""
    task = asyncio.create_task(_tell_forever(), name="mcp-counts")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _tell_forever() -> None:
    while True:
        await asyncio.sleep(TELL_EVERY_S)
        await in_thread(tell_counts)
