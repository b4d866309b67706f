"""A limit of processor time for a piece of work in a process's main thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


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
