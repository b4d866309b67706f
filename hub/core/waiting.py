"""Telling who lent the thread that its work waits for something else, so that others may have one meanwhile."""

from __future__ import annotations

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
