"""Waiting for work with progress reports, without holding a thread; doing the work here where nobody else does."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from django.db import connections
from mcp.server.mcpserver import Context

from hub.core.context import CallContext, call_context, current_call
from knowledge.documents.workers import POLL_S, worker_is_alive
from mcp_bridge.caller import current_caller
from mcp_bridge.threads import in_thread

logger = logging.getLogger(__name__)

WORK_HERE_S = 2.0
REPORT_S = 1.0
REMIND_S = 10.0

# Seconds that may be spent → whether the work is finished. With 0.0 it only looks.
Step = Callable[[float], bool]
# The same, and with None until it is finished.
Wait = Callable[[float | None], bool]
# (percent, state) as they are now.
Progress = Callable[[], tuple[int, str]]


async def wait_reporting(ctx: Context[Any, Any], *, step: Step, progress: Progress, limit_s: float | None) -> bool:
    """Wait until ``step`` says that the work is finished; False when ``limit_s`` (None: no limit) passed first.

    Progress goes to the client once a second when it changed, and at least every ten seconds.
    """
    reporter = asyncio.create_task(_report(ctx, progress))
    try:
        return await _wait(step, limit_s)
    finally:
        reporter.cancel()
        await asyncio.wait([reporter])
        if not reporter.cancelled() and (error := reporter.exception()):
            logger.warning("progress was not reported: %s", error)


async def _wait(step: Step, limit_s: float | None) -> bool:
    started = time.monotonic()
    while True:
        left = WORK_HERE_S if limit_s is None else limit_s - (time.monotonic() - started)
        if await in_thread(_step, step, max(0.0, left)):
            return True
        if left <= 0:
            return False
        await asyncio.sleep(min(POLL_S, left))


def _step(step: Step, left: float) -> bool:
    return step(0.0 if worker_is_alive() else min(left, WORK_HERE_S))


async def _report(ctx: Context[Any, Any], progress: Progress) -> None:
    reported: tuple[int, str] | None = None
    reported_at = value = 0.0
    while True:
        now = await in_thread(progress)
        if now != reported or time.monotonic() - reported_at >= REMIND_S:
            reported, reported_at = now, time.monotonic()
            # the protocol wants a value that grows with each report
            value = max(float(now[0]), value + 0.01)
            await ctx.report_progress(value, 100, f"{now[1]} ({now[0]} %)")
        await asyncio.sleep(REPORT_S)


async def wait_or_leave_running(
    ctx: Context[Any, Any], *, name: str, wait: Wait, progress: Progress, limit_s: float
) -> None:
    """Wait as ``wait_reporting`` does for work that is of use without this call too.

    What is not finished then, or when the client cancels the call, goes on: in this process where no worker may do it.
    """
    is_finished = False
    try:
        is_finished = await wait_reporting(ctx, step=wait, progress=progress, limit_s=limit_s)
    finally:
        if not is_finished and current_caller().is_local:
            finish_in_background(name, lambda: wait(None))


def finish_in_background(name: str, work: Callable[[], object]) -> None:
    """Go on with ``work`` after the call is answered, for as long as this process lives; once per ``name``."""
    if any(thread.name == name for thread in threading.enumerate()):
        return
    threading.Thread(target=_finish, args=(name, work, current_call()), name=name, daemon=True).start()


def _finish(name: str, work: Callable[[], object], call: CallContext | None) -> None:
    try:
        with call_context(call) if call else nullcontext():
            work()
    except Exception:
        logger.exception("%s failed; a worker will take it up", name)
    finally:
        connections.close_all()
