"""A bounded number of threads that answer requests; who finds all of them taken waits in line.

Django gives every request under ASGI a thread of its own that ends with it, and the connection to PostgreSQL with that:
each request would connect anew, and a hundred at one time would ask for more connections than the server has. These
threads are lent for one piece of work at a time and stay.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from functools import cache
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.utils.translation import gettext_lazy as _

from hub.core.errors import Unavailable
from hub.core.measures import WAITING_REQUESTS
from hub.core.stopping import Stop, stoppable_by
from hub.core.waiting import stepping_aside_by

P = ParamSpec("P")
R = TypeVar("R")

# A longer line could not be served in any time that a caller waits, and each of those in it takes memory.
LINE_PER_THREAD = 64
# So many requests more may have a thread while others wait for a model or a worker, which costs a connection each.
MOST_ASIDE = 16


class TooBusy(Unavailable):
    """All threads for requests are taken, and have been for longer than a caller should wait."""

    code = "too_busy"


class LentThread:
    """A thread that nobody else uses meanwhile."""

    def __init__(self, executor: ThreadPoolExecutor, step_aside: Callable[[], AbstractContextManager[None]]) -> None:
        self._executor = executor
        self._step_aside = step_aside

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a blocking function in the thread, with the caller's context; a cancelled caller goes on at once."""
        with stepping_aside_by(self._step_aside):
            return await sync_to_async(function, thread_sensitive=False, executor=self._executor)(*args, **kwargs)

    async def ask(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call it as ``run`` does, and tell it to stop when the caller is cancelled: for a question, never a change."""
        stop = Stop()
        with stoppable_by(stop):
            try:
                return await self.run(function, *args, **kwargs)
            except asyncio.CancelledError:
                stop.set()
                raise


class RequestThreads:
    """Lends ``most`` threads, first come, first served. Safe for several event loops."""

    def __init__(self, *, most: int, wait_s: float) -> None:
        self._most = most
        self._wait_s = wait_s
        self._made = 0
        self._aside = 0
        self._idle: list[ThreadPoolExecutor] = []
        self._line: deque[asyncio.Future[ThreadPoolExecutor]] = deque()
        self._lock = threading.Lock()

    @property
    def idle(self) -> int:
        """How many threads wait for a request."""
        return len(self._idle)

    @property
    def waiting(self) -> int:
        """How many requests wait for a thread."""
        return len(self._line)

    @asynccontextmanager
    async def lend(self, *, patiently: bool = False) -> AsyncIterator[LentThread]:
        """Wait for a thread and lend it. ``patiently``: however long that takes, for an answer that has begun.

        :raises TooBusy: none was free in time, or so many wait already that none would be.
        """
        executor = await self._take(None if patiently else self._wait_s)
        try:
            yield LentThread(executor, self._aside_meanwhile)
        finally:
            # A caller who went away leaves work behind that still runs: the thread is free only after it.
            executor.submit(_nothing).add_done_callback(lambda _done: self._give_back(executor))

    async def _take(self, wait_s: float | None) -> ThreadPoolExecutor:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._has_room:
                return self._make()
            if wait_s is not None and len(self._line) >= LINE_PER_THREAD * self._most:
                raise self._line_too_long()
            turn: asyncio.Future[ThreadPoolExecutor] = asyncio.get_running_loop().create_future()
            self._line.append(turn)
        with WAITING_REQUESTS.track_inprogress():
            return await self._wait(turn, wait_s)

    async def _wait(self, turn: asyncio.Future[ThreadPoolExecutor], wait_s: float | None) -> ThreadPoolExecutor:
        try:
            async with asyncio.timeout(wait_s):
                return await turn
        except TimeoutError:
            self._leave(turn)
            raise self._waited_too_long() from None
        except asyncio.CancelledError:
            self._leave(turn)
            raise

    @contextmanager
    def _aside_meanwhile(self) -> Iterator[None]:
        """Let another request have a thread while this one waits for something else, up to ``MOST_ASIDE`` at a time."""
        with self._lock:
            is_aside = self._aside < MOST_ASIDE
            self._aside += is_aside
            made = self._make() if self._line and self._has_room else None
        if made:
            self._give_back(made)
        try:
            yield
        finally:
            with self._lock:
                self._aside -= is_aside

    @property
    def _has_room(self) -> bool:
        return self._made < self._most + self._aside

    def _make(self) -> ThreadPoolExecutor:
        self._made += 1
        return ThreadPoolExecutor(1, thread_name_prefix="request")

    def _leave(self, turn: asyncio.Future[ThreadPoolExecutor]) -> None:
        with self._lock:
            if turn in self._line:
                self._line.remove(turn)
        if turn.done() and not turn.cancelled():  # it came just when nobody waited for it any more
            self._give_back(turn.result())

    def _give_back(self, executor: ThreadPoolExecutor) -> None:
        with self._lock:
            is_spare = self._made > self._most + self._aside  # made while another one waited, which it does no more
            self._made -= is_spare
            turn = self._line.popleft() if self._line and not is_spare else None
            if not turn and not is_spare:
                self._idle.append(executor)
        if turn:
            turn.get_loop().call_soon_threadsafe(self._hand_over, turn, executor)
        elif is_spare:
            executor.submit(connections.close_all)
            executor.shutdown(wait=False)

    def _hand_over(self, turn: asyncio.Future[ThreadPoolExecutor], executor: ThreadPoolExecutor) -> None:
        if turn.done():  # cancelled since
            self._give_back(executor)
        else:
            turn.set_result(executor)

    def _waited_too_long(self) -> TooBusy:
        return TooBusy(
            _(
                "All {threads} threads for requests (HUB_REQUEST_THREADS) were busy for {wait_s} seconds "
                "(HUB_REQUEST_WAIT_S). Try again later."
            ),
            threads=self._most,
            wait_s=f"{self._wait_s:g}",
        )

    def _line_too_long(self) -> TooBusy:
        return TooBusy(
            _(
                "All {threads} threads for requests (HUB_REQUEST_THREADS) are busy, and {waiting} requests wait for "
                "one already. Try again later."
            ),
            threads=self._most,
            waiting=len(self._line),
        )


@cache
def request_threads() -> RequestThreads:
    """Return this process's threads for requests."""
    config = settings.CONFIG
    return RequestThreads(most=config.hub_request_threads, wait_s=config.hub_request_wait_s)


def _nothing() -> None:
    """Stand at the end of a thread's queue."""
