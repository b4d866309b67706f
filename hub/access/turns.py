"""Work that costs much: a bounded number of calls at a time, and of each caller one, so that nobody has it all.

Used for the text rules over long texts, graph queries and ontology checks. The threads in which calls are answered
are shared out on their own (``hub/rest/request_threads.py``).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import TooManyAtOnce, Unavailable
from hub.core.waiting import waiting_elsewhere


def caller_name(principal: Principal) -> str:
    """By which name a person's work at one time is counted, whatever tokens they have."""
    return f"user:{principal.user_id}" if principal.user_id is not None else principal.name


class Turns:
    """Turns at one kind of costly work in one process: ``most`` at a time, each of another caller.

    Up to ``most_waiting`` further calls of a caller wait for the one before, and a caller who finds all turns taken
    waits as well: for ``wait_s`` at most. Safe for several threads.
    """

    def __init__(self, *, most: int, most_waiting: int, wait_s: float) -> None:
        self._most = most
        self._most_waiting = most_waiting
        self._wait_s = wait_s
        self._changed = threading.Condition()
        self._at_work: set[str] = set()
        self._calls: Counter[str] = Counter()

    @contextmanager
    def taken_by(self, principal: Principal) -> Iterator[None]:
        """Have a turn while the block runs.

        :raises TooManyAtOnce: at once, when the caller has as many calls at work and waiting as may be; or after the
        wait, when the call before is still at work. :raises Unavailable: all turns were taken by others all the time.
        """
        caller = caller_name(principal)
        with self._changed:
            if self._calls[caller] > self._most_waiting:
                raise self._too_many(self._calls[caller])
            self._calls[caller] += 1
        try:
            self._take(caller)
            try:
                yield
            finally:
                with self._changed:
                    self._at_work.discard(caller)
                    self._changed.notify_all()
        finally:
            with self._changed:
                self._calls[caller] -= 1
                if not self._calls[caller]:
                    del self._calls[caller]

    def _take(self, caller: str) -> None:
        if self._took(caller):
            return
        until = time.monotonic() + self._wait_s
        with waiting_elsewhere(), self._changed:
            while not self._took(caller):
                left_s = until - time.monotonic()
                if left_s <= 0:
                    raise self._too_many(1) if caller in self._at_work else self._all_taken()
                self._changed.wait(left_s)

    def _took(self, caller: str) -> bool:
        with self._changed:  # may be held already: the lock of a condition can be taken again
            if caller in self._at_work or len(self._at_work) >= self._most:
                return False
            self._at_work.add(caller)
            return True

    @staticmethod
    def _too_many(calls: int) -> TooManyAtOnce:
        return TooManyAtOnce(
            _(
                "The hub is at work on {calls} of your calls of this kind already, and does one of them at a time. "
                "Wait for its answer before you send another one."
            ),
            calls=calls,
        )

    def _all_taken(self) -> Unavailable:
        return Unavailable(
            _(
                "The hub is at work on {limit} calls of this kind by other people, the most at one time. Try again "
                "in a moment."
            ),
            code=TooManyAtOnce.code,
            limit=self._most,
        )
