"""In which order workers take from their queues."""

from __future__ import annotations

from collections.abc import Iterable

BULK = "bulk"
EVERY = 4


class Turns:
    """The earlier queue first; but of four messages one is of BULK, if any waits there, so that it never stands still.

    Without that share, people's reviews and uploads could keep a large import from its end for as long as they last.
    It is what `kombu.utils.scheduling` calls a cycle.
    """

    def __init__(self) -> None:
        self._queues: list[str] = []
        self._taken = 0

    def update(self, queues: Iterable[str]) -> None:
        """Take the names of the queues that the worker takes from, in their order."""
        self._queues = list(queues)

    def consume(self, count: int) -> list[str]:
        """Give the queues in the order in which the next message is looked for."""
        queues = self._queues[:count]
        if BULK in queues and self._taken % EVERY == EVERY - 1:
            queues.remove(BULK)
            queues.insert(0, BULK)
        return queues

    def rotate(self, _queue: str) -> None:
        """Count a message that was taken."""
        self._taken += 1
