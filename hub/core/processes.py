"""What holds for a process: values that it makes once, limits of its time, how often Python looks for cycles."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Generic, TypeVar

# Looking after every 700 new objects, as Python does, took a tenth of reading a document and a quarter of a start.
WORK = (100_000, 20, 20)
# A request leaves 140 objects in cycles, its answer among them: so many requests' answers may wait as go into these.
# With Python's own numbers every fiftieth search looked at all objects of the process, for 100 to 300 ms.
REQUESTS = (5_000, 20, 20)


def collect_seldom(after: tuple[int, int, int] = WORK) -> None:
    """Look for cycles seldom, and never among objects that exist already, so that forked children share them.

    Nor at the end of the process: looking through all of its objects took a quarter of a short command's time.
    """
    gc.freeze()
    gc.set_threshold(*after)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)  # the first to be registered, and so the last to run


T = TypeVar("T")
_all: weakref.WeakSet[PerProcess[Any]] = weakref.WeakSet()


class PerProcess(Generic[T]):
    """Make a value once per process, whichever thread asks first.

    A forked child makes its own, since the threads and locks of an inference session do not survive a fork;
    with `inherit` it keeps what its parent had already made (plain data).
    """

    def __init__(self, make: Callable[[], T], *, inherit: bool = False) -> None:
        self._make = make
        self._inherit = inherit
        self._lock = threading.Lock()
        self._made: list[T] = []
        self._abandoned: list[T] = []
        _all.add(self)

    def get(self) -> T:
        """Return this process's value, making it if need be; what making it raises is raised here."""
        made = self._made
        if not made:
            with self._lock:
                made = self._made
                if not made:
                    made.append(self._make())
        return made[0]

    def take(self) -> list[T]:
        """Return what this process has made, to be ended by the caller; the next `get` makes it anew."""
        with self._lock:
            made, self._made = self._made, []
        return made

    def after_fork(self) -> None:
        """Replace the lock, which another thread may have held while forking, and drop the parent's value."""
        self._lock = threading.Lock()
        if not self._inherit:
            # Kept alive but unused: its destructor would touch threads and locks only the parent has.
            self._abandoned += self._made
            self._made = []


def _after_fork() -> None:
    for value in list(_all):
        value.after_fork()


os.register_at_fork(after_in_child=_after_fork)


class TimeOver(RuntimeError):
    """A piece of work took more processor time than it was given."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"It took more than {seconds:g} s of processor time.")
        self.seconds = seconds


@contextmanager
def limit_cpu(seconds: float) -> Iterator[bool]:
    """End the block with TimeOver once the process has computed for ``seconds``; yields whether that holds here.

    The kernel counts and sends a signal, which also ends a search with a regular expression. Signals reach a process's
    main thread only, so elsewhere, and inside of another such block, nothing is limited: workers and child processes
    run what may take long in their main thread.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_VIRTUAL)[0]:
        yield False
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TimeOver(seconds)

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
