"""Threads for everything that blocks: database, files, models. The event loop never waits for them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections, connections
from django.utils import translation

P = ParamSpec("P")
R = TypeVar("R")

MAX_THREADS = 32
# A thread's connection that lived so lately is not asked again whether it does, which would be a query before each
# call's own. A call that meets a connection lost since then fails as retryable, and the next one connects anew.
TRUSTED_FOR_S = 1.0

_checked = threading.local()


@cache
def _pool() -> ThreadPoolExecutor:
    # Threads of our own keep their database connections for CONN_MAX_AGE and bound how many there are; those that
    # anyio lends out are new ones after ten idle seconds.
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="mcp")


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a blocking function in a thread, with the caller's context and language and a usable database connection.

    A cancelled caller goes on at once; the function ends by itself, its result unread.
    """
    # Django keeps the language per thread, not in a context variable that a copy would carry along.
    call = partial(_call, partial(function, *args, **kwargs), translation.get_language())
    return await asyncio.get_running_loop().run_in_executor(_pool(), copy_context().run, call)


def _call(function: Callable[[], R], language: str | None) -> R:
    close_old_connections()  # what Django does around its own requests, which these are not
    is_trusted = time.monotonic() - getattr(_checked, "at", float("-inf")) < TRUSTED_FOR_S
    if is_trusted:
        for connection in connections.all(initialized_only=True):
            connection.health_check_done = True  # type: ignore[attr-defined]  # the stubs lack it
    try:
        with translation.override(language):
            return function()
    finally:
        if not is_trusted and _was_checked():
            _checked.at = time.monotonic()
        close_old_connections()


def _was_checked() -> bool:
    """Whether this call found a connection alive, or made one; Django keeps the mark of one that is closed."""
    known = connections.all(initialized_only=True)
    return any(one.connection and one.health_check_done for one in known)  # type: ignore[attr-defined]
