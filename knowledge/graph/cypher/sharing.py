"""How queries of several callers get on in one process: beside each other, alone after a crash, or not for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.turns import caller_name
from hub.core.errors import RateLimited, Unavailable
from hub.core.waiting import waiting_elsewhere

# For somebody whose query ended the process: everybody's copy of the graph has to be loaded again.
PAUSE_S = 30


class Company:
    """Whether queries run beside others or alone. Who wants to be alone comes before those who come later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._beside = 0
        self._is_alone = False
        self._wanting_alone = 0

    @contextmanager
    def beside_others(self, *, wait_s: float) -> Iterator[None]:
        """Run while nobody is alone. Raises Unavailable when somebody was for ``wait_s``."""
        with self._changed:
            self._wait(lambda: not self._is_alone and not self._wanting_alone, wait_s)
            self._beside += 1
        try:
            yield
        finally:
            with self._changed:
                self._beside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, *, wait_s: float) -> Iterator[None]:
        """Run while nobody else does. Raises Unavailable when somebody did for ``wait_s``."""
        with self._changed:
            self._wanting_alone += 1
            try:
                self._wait(lambda: not self._is_alone and not self._beside, wait_s)
                self._is_alone = True
            finally:
                self._wanting_alone -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._is_alone = False
                self._changed.notify_all()

    def _wait(self, may_run: Callable[[], bool], wait_s: float) -> None:
        if may_run():
            return
        with waiting_elsewhere():
            if not self._changed.wait_for(may_run, timeout=wait_s):
                raise busy()


class Pauses:
    """Callers whose queries are refused for a while, since one of them ended the process."""

    def __init__(self, pause_s: float = PAUSE_S) -> None:
        self._pause_s = pause_s
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}

    def begin(self, principal: Principal) -> None:
        """Refuse the caller's queries from now on."""
        now = time.monotonic()
        with self._lock:
            self._until = {name: until for name, until in self._until.items() if until > now}
            self._until[caller_name(principal)] = now + self._pause_s

    def refuse(self, principal: Principal) -> None:
        """:raises RateLimited: the caller's queries are refused for now; says how long."""
        with self._lock:
            left_s = self._until.get(caller_name(principal), 0.0) - time.monotonic()
        if left_s > 0:
            raise RateLimited(
                _(
                    "A query of yours has just ended the process that runs everybody's queries. Narrow it with "
                    "labels, ids or LIMIT, or bound *-patterns, and come back in {retry_after_s} seconds."
                ),
                code="query_paused",
                retry_after_s=int(left_s) + 1,
            )


def busy() -> Unavailable:
    """Make the refusal of a query that could not run for what others do."""
    return Unavailable(
        _("Queries of other people ended the process that runs queries, or keep it busy. Try again."), code="graph_busy"
    )
