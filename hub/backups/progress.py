"""Progress of long commands, for those who look."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from tqdm import tqdm

Watch = Callable[[int, int], None]


def unwatched(_done: int, _total: int) -> None:
    """Show nothing."""


class Progress:
    """A bar on a terminal, and nothing elsewhere. Called with what is done and how much there is."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._bar: tqdm[NoReturn] | None = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = tqdm(total=total, unit=f" {self._unit}", disable=None, leave=False)
        self._bar.update(done - self._bar.n)
        if done == total:
            self._bar.close()
