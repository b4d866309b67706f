"""A bounded number of threads that answer requests; who finds all of them taken, or their share, waits in line.

Django gives every request under ASGI a thread of its own that ends with it, and the connection to PostgreSQL with that:
each request would connect anew, and a hundred at one time would ask for more connections than the server has. These
threads are lent for one piece of work at a time and stay.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.db import connections
from django.utils.translation import gettext_lazy as _

from hub.core.errors import TooManyAtOnce, Unavailable
from hub.core.measures import WAITING_REQUESTS
from hub.core.waiting import Stop, stepping_aside_by, stoppable_by

P = ParamSpec("P")
R = TypeVar("R")

# A longer line could not be served in any time that a caller waits, and each of those in it takes memory.
LINE_PER_THREAD = 64
# So many requests more may have a thread while others wait for a model or a worker, which costs a connection each.
MOST_ASIDE = 16
# Of the threads that one caller has at a time: with one, a page and the pictures on it would wait for each other.
LEAST_SHARE = 2
_MISSING = object()


class TooBusy(Unavailable):
    """All threads for requests are taken, and have been for longer than a caller should wait."""

    code = "too_busy"


class LentThread:
    """A thread that nobody else uses meanwhile."""

    def __init__(self, executor: ThreadPoolExecutor, step_aside: Callable[[], AbstractContextManager[None]]) -> None:
        self._executor = executor
        self._step_aside = step_aside
        self.work: Future[Any] | None = None  # what it does, or did last

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a blocking function in the thread, with the caller's context; a cancelled caller goes on at once.

        What it has changed in the context when it returns is changed for the caller, as if it had been called here.
        """
        with stepping_aside_by(self._step_aside):
            context = copy_context()
            call = partial(context.run, function, *args, **kwargs)
            work = self.work = self._executor.submit(call)
            result: R = await asyncio.wrap_future(work)
            _take_over(context)
            return result

    async def ask(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call it as ``run`` does, and tell it to stop when the caller is cancelled: for a question, never a change."""
        stop = Stop()
        with stoppable_by(stop):
            try:
                return await self.run(function, *args, **kwargs)
            except asyncio.CancelledError:
                stop.set()
                raise

    def finish(self, function: Callable[[], object]) -> None:
        """Have it called in the thread after what runs there now, before the thread is given back; nobody waits."""
        self.work = self._executor.submit(copy_context().run, function)


@dataclass(eq=False, slots=True)
class _Turn:
    """Somebody who waits for a thread."""

    executor: asyncio.Future[ThreadPoolExecutor]
    caller: str | None


class RequestThreads:
    """Lends ``most`` threads, first come, first served, a quarter of them (at least 2) to one caller at a time.

    Who has fewer at the time is served first. A caller is any name; None has no share. Of a caller's work that waits
    for something else, up to half of ``most_aside`` does not count. Safe for several event loops.
    """

    def __init__(self, *, most: int, wait_s: float, most_aside: int | None = None) -> None:
        self._most = most
        self._most_aside = MOST_ASIDE if most_aside is None else most_aside
        self._share = max(LEAST_SHARE, most // 4)
        self._wait_s = wait_s
        self._made = 0
        self._aside: Counter[str | None] = Counter()
        self._lent: Counter[str | None] = Counter()
        self._idle: list[ThreadPoolExecutor] = []
        self._lines: dict[str | None, deque[_Turn]] = {}  # in the order in which callers are served next
        self._lock = threading.Lock()

    @property
    def idle(self) -> int:
        """How many threads wait for a request."""
        return len(self._idle)

    @property
    def waiting(self) -> int:
        """How many requests wait for a thread."""
        return sum(map(len, self._lines.values()))

    @asynccontextmanager
    async def lend(self, caller: str | None = None, *, patiently: bool = False) -> AsyncIterator[LentThread]:
        """Wait for a thread and lend it. ``patiently``: however long that takes, for an answer that has begun.

        :raises TooBusy: none was free in time, or so many wait already that none would be. :raises TooManyAtOnce: the
        same of the caller's share.
        """
        executor = await self._take(caller, None if patiently else self._wait_s)
        thread = LentThread(executor, partial(self._aside_meanwhile, caller))
        try:
            yield thread
        finally:
            if thread.work is None:
                self._give_back(executor, caller)
            else:  # now, or when the work ends that a caller who went away left behind
                thread.work.add_done_callback(lambda _done: self._give_back(executor, caller))

    async def _take(self, caller: str | None, wait_s: float | None) -> ThreadPoolExecutor:
        with self._lock:
            if self._may_have(caller) and self._has_one:
                return self._lend_to(caller)
            if wait_s is not None:
                self._refuse_long_line(caller)
            turn = _Turn(asyncio.get_running_loop().create_future(), caller)
            self._lines.setdefault(caller, deque()).append(turn)
        with WAITING_REQUESTS.track_inprogress():
            return await self._wait(turn, wait_s)

    async def _wait(self, turn: _Turn, wait_s: float | None) -> ThreadPoolExecutor:
        try:
            async with asyncio.timeout(wait_s):
                return await turn.executor
        except TimeoutError:
            self._leave(turn)
            raise self._waited_too_long(turn.caller) from None
        except asyncio.CancelledError:
            self._leave(turn)
            raise

    @contextmanager
    def _aside_meanwhile(self, caller: str | None) -> Iterator[None]:
        """Let another request have a thread while this one waits for something else, up to ``most_aside`` at a time."""
        with self._lock:
            is_aside = self._may_step_aside(caller)
            self._aside[caller] += is_aside
            self._lent[caller] -= is_aside
            matched = self._match()
        _hand_over(self, matched)
        try:
            yield
        finally:
            with self._lock:
                self._aside[caller] -= is_aside
                self._lent[caller] += is_aside

    def _may_step_aside(self, caller: str | None) -> bool:
        is_within_share = caller is None or self._aside[caller] < self._most_aside // 2
        return is_within_share and self._aside.total() < self._most_aside

    def _may_have(self, caller: str | None) -> bool:
        return caller is None or self._lent[caller] < self._share

    @property
    def _has_one(self) -> bool:
        return bool(self._idle) or self._made < self._most + self._aside.total()

    def _lend_to(self, caller: str | None) -> ThreadPoolExecutor:
        self._lent[caller] += 1
        if self._idle:
            return self._idle.pop()
        self._made += 1
        return ThreadPoolExecutor(1, thread_name_prefix="request")

    def _match(self) -> list[tuple[_Turn, ThreadPoolExecutor]]:
        """Take out of the line who can have a thread now."""
        matched = []
        while self._has_one and (callers := [caller for caller in self._lines if self._may_have(caller)]):
            caller = min(callers, key=lambda caller: self._lent[caller])
            line = self._lines.pop(caller)
            matched.append((line.popleft(), self._lend_to(caller)))
            if line:
                self._lines[caller] = line  # behind the others
        return matched

    def _leave(self, turn: _Turn) -> None:
        with self._lock:
            line = self._lines.get(turn.caller, deque())
            if turn in line:
                line.remove(turn)
            if not line:
                self._lines.pop(turn.caller, None)
        if turn.executor.done() and not turn.executor.cancelled():  # it came just when nobody waited for it any more
            self._give_back(turn.executor.result(), turn.caller)

    def _give_back(self, executor: ThreadPoolExecutor, caller: str | None) -> None:
        with self._lock:
            self._lent[caller] -= 1
            if not self._lent[caller] and not self._aside[caller]:
                del self._lent[caller], self._aside[caller]
            is_spare = self._made > self._most + self._aside.total()  # made while another one waited: it does no more
            self._made -= is_spare
            if not is_spare:
                self._idle.append(executor)
            matched = self._match()
        if is_spare:
            executor.submit(connections.close_all)
            executor.shutdown(wait=False)
        _hand_over(self, matched)

    def _refuse_long_line(self, caller: str | None) -> None:
        own = len(self._lines.get(caller, ()))
        if caller is not None and own >= LINE_PER_THREAD * self._share:
            raise self._too_many_of(caller)
        if own and self.waiting >= LINE_PER_THREAD * self._most:  # the first of a caller is served among the next
            raise self._line_too_long()

    def _waited_too_long(self, caller: str | None) -> TooBusy | TooManyAtOnce:
        if not self._may_have(caller):
            return self._too_many_of(caller)
        return TooBusy(
            _(
                "All {threads} threads for requests (HUB_REQUEST_THREADS) were busy for {wait_s} seconds "
                "(HUB_REQUEST_WAIT_S). Try again later."
            ),
            threads=self._most,
            wait_s=f"{self._wait_s:g}",
        )

    def _too_many_of(self, caller: str | None) -> TooManyAtOnce:
        return TooManyAtOnce(
            _(
                "The hub is at work on {calls} of your calls, the most for one caller at a time, and {waiting} wait. "
                "Send fewer at once, and wait for their answers."
            ),
            calls=self._share,
            waiting=len(self._lines.get(caller, ())),
        )

    def _line_too_long(self) -> TooBusy:
        return TooBusy(
            _(
                "All {threads} threads for requests (HUB_REQUEST_THREADS) are busy, and {waiting} requests wait for "
                "one already. Try again later."
            ),
            threads=self._most,
            waiting=self.waiting,
        )


@cache
def request_threads() -> RequestThreads:
    """Return this process's threads for requests."""
    config = settings.CONFIG
    return RequestThreads(most=config.hub_request_threads, wait_s=config.hub_request_wait_s)


def _hand_over(threads: RequestThreads, matched: list[tuple[_Turn, ThreadPoolExecutor]]) -> None:
    for turn, executor in matched:
        turn.executor.get_loop().call_soon_threadsafe(_give, threads, turn, executor)


def _give(threads: RequestThreads, turn: _Turn, executor: ThreadPoolExecutor) -> None:
    if turn.executor.done():  # cancelled since
        threads._give_back(executor, turn.caller)
    else:
        turn.executor.set_result(executor)


def _take_over(context: Context) -> None:
    for variable, value in context.items():
        if variable.get(_MISSING) is not value:
            variable.set(value)
