"""Threads for everything that blocks: database, files, models. The event loop never waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections
from django.utils import translation

from hub.core.stopping import Stop, stoppable_by

P = ParamSpec("P")
R = TypeVar("R")

MAX_THREADS = 32


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


async def in_stoppable_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a blocking function as ``in_thread`` does; what in it can be stopped ends when the caller is cancelled.

    For what is of use to its caller alone: a question, never a change.
    """
    stop = Stop()
    with stoppable_by(stop):
        try:
            return await in_thread(function, *args, **kwargs)
        except asyncio.CancelledError:
            stop.set()
            raise


def _call(function: Callable[[], R], language: str | None) -> R:
    close_old_connections()  # what Django does around its own requests, which these are not
    try:
        with translation.override(language):
            return function()
    finally:
        close_old_connections()
