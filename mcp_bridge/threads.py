"""Threads for everything that blocks: database, files, models. The event loop never waits for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections
from django.utils import translation

from hub.access.turns import caller_name
from hub.rest.request_threads import RequestThreads
from mcp_bridge.caller import current_caller

P = ParamSpec("P")
R = TypeVar("R")

MAX_THREADS = 32


@cache
def _threads() -> RequestThreads:
    # Threads of our own keep their database connections for CONN_MAX_AGE and bound how many there are; those that
    # anyio lends out are new ones after ten idle seconds.
    return RequestThreads(most=MAX_THREADS, wait_s=0, most_aside=0)


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a blocking function in a thread, with the caller's context and language and a usable database connection.

    Of all threads a quarter at most works for one caller; further calls wait, without a thread. A cancelled caller
    goes on at once; the function ends by itself, its result unread.
    """
    call = _with_language(partial(function, *args, **kwargs))
    async with _threads().lend(_caller(), patiently=True) as thread:
        return await thread.run(call)


async def in_stoppable_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a blocking function as ``in_thread`` does; what in it can be stopped ends when the caller is cancelled.

    For what is of use to its caller alone: a question, never a change.
    """
    call = _with_language(partial(function, *args, **kwargs))
    async with _threads().lend(_caller(), patiently=True) as thread:
        return await thread.ask(call)


def _with_language(function: Callable[[], R]) -> Callable[[], R]:
    # Django keeps the language per thread, not in a context variable that a copy would carry along.
    return partial(_call, function, translation.get_language())


def _caller() -> str | None:
    try:
        return caller_name(current_caller().principal)
    except LookupError:  # work of the server itself
        return None


def _call(function: Callable[[], R], language: str | None) -> R:
    close_old_connections()  # what Django does around its own requests, which these are not
    try:
        with translation.override(language):
            return function()
    finally:
        close_old_connections()
