"""Threads that serve one request after the other, so that each keeps its database connection.

Django gives every request under ASGI a thread of its own that ends with it, and the connection to PostgreSQL with that:
each request would then connect anew. These threads are lent to one request at a time and stay.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from asgiref.sync import ThreadSensitiveContext
from django.db import connections

# So many threads wait for the next request, with a connection each; more than that end with their request.
KEPT = 8


class RequestThreads:
    """Lends threads. Safe for several event loops."""

    def __init__(self, *, kept: int = KEPT) -> None:
        self._kept = kept
        self._idle: list[ThreadPoolExecutor] = []
        self._lock = threading.Lock()

    @property
    def idle(self) -> int:
        """How many threads wait for a request."""
        return len(self._idle)

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[None]:
        """Run all blocking work of what is awaited inside in one thread, which nobody else uses meanwhile."""
        executor = self._take()
        try:
            async with ThreadSensitiveContext(executor=executor):
                yield
        finally:
            # A caller who went away leaves work behind that still runs: the thread is free only after it.
            executor.submit(_nothing).add_done_callback(lambda _done: self._give_back(executor))

    def _take(self) -> ThreadPoolExecutor:
        with self._lock:
            return self._idle.pop() if self._idle else ThreadPoolExecutor(1, thread_name_prefix="request")

    def _give_back(self, executor: ThreadPoolExecutor) -> None:
        with self._lock:
            is_kept = len(self._idle) < self._kept
            if is_kept:
                self._idle.append(executor)
        if not is_kept:
            # It would stay open until the next search for cycles of objects, which is seldom.
            executor.submit(connections.close_all)
            executor.shutdown(wait=False)


def _nothing() -> None:
    """Stand at the end of a thread's queue."""
