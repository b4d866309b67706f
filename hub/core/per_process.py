"""A value made on first use, that knows about forks."""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_all: "weakref.WeakSet[PerProcess[Any]]" = weakref.WeakSet()


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
