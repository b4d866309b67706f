"""Work beside the thread of a search: the question's model and long sums run while PostgreSQL is asked."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TypeVar

T = TypeVar("T")
# As many as the threads of MCP; a search has at most two pieces of work beside it, and what finds no thread waits.
MAX_THREADS = 32


def begin(work: Callable[[], T]) -> Callable[[], T]:
    """Begin some work in another thread, in the caller's context, and give a function that waits for its result.

    That raises what the work raised. The work must not use the database: connections belong to threads. Nobody has to
    wait for it.
    """
    return _pool().submit(copy_context().run, work).result


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="search")


os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked process has none of its parent's threads
