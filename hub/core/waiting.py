"""Work in a thread that was lent: saying that it waits for something else, and hearing that nobody waits for it.

Python can't end a thread from outside: work that may take long looks here now and then, or says how to be woken.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

_step_aside: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar("hub_step_aside", default=nullcontext)


@contextmanager
def stepping_aside_by(step_aside: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """Let the work inside the block enter ``step_aside()`` while it waits."""
    token = _step_aside.set(step_aside)
    try:
        yield
    finally:
        _step_aside.reset(token)


@contextmanager
def waiting_elsewhere() -> Iterator[None]:
    """Use neither processor nor database to speak of while the block runs: a model answers, or a worker works."""
    with _step_aside.get()():
        yield


class Stopped(Exception):
    """Nobody waits for the result any more."""


class Stop:
    """Whether some work is to end, and who wants to hear of it. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wake: list[Callable[[], None]] = []
        self._is_set = False

    @property
    def is_set(self) -> bool:
        """Whether the work is to end."""
        return self._is_set

    def set(self) -> None:
        """Ask the work to end; this thread calls what its waits gave to be woken by."""
        with self._lock:
            self._is_set = True
            wake, self._wake = self._wake, []
        for call in wake:
            call()

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """Call ``wake`` once when the work is to end, at once when it already is, while the block runs."""
        with self._lock:
            is_late = self._is_set
            if not is_late:
                self._wake.append(wake)
        if is_late:
            wake()
        try:
            yield
        finally:
            with self._lock:
                if wake in self._wake:
                    self._wake.remove(wake)


_current: ContextVar[Stop | None] = ContextVar("hub_stop", default=None)


@contextmanager
def stoppable_by(stop: Stop) -> Iterator[None]:
    """Let ``stop`` end the work inside the block."""
    token = _current.set(stop)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def woken_by_stop(wake: Callable[[], None]) -> Iterator[None]:
    """Call ``wake`` from another thread when the running work is to end while the block waits."""
    stop = _current.get()
    if stop is None:
        yield
        return
    with stop.waking(wake):
        yield


def raise_if_stopped() -> None:
    """Raise Stopped when nobody waits for the running work any more; do nothing for work that can't be stopped."""
    stop = _current.get()
    if stop is not None and stop.is_set:
        raise Stopped
