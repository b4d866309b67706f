"""Extension points: what apps contribute to a service below them, which must not import them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

Contribution = TypeVar("Contribution")


class ExtensionPoint(Generic[Contribution]):
    """The contributions that apps registered when they were ready, each once, in the order of registration.

    A service has one as a constant, typed by what it calls, and says there when it does so; apps register theirs in
    ``AppConfig.ready``.
    """

    def __init__(self) -> None:
        self._contributions: list[Contribution] = []

    def __iter__(self) -> Iterator[Contribution]:
        return iter(self._contributions)

    def register(self, contribution: Contribution) -> None:
        """Add a contribution; one that is equal to an earlier one changes nothing."""
        if contribution not in self._contributions:
            self._contributions.append(contribution)

    def remove(self, contribution: Contribution) -> None:
        """Take a contribution back, for tests. Raises ValueError when it is not there."""
        self._contributions.remove(contribution)
