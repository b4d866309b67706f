"""Extension points: what apps contribute to a service below them, which must not import them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from django.utils.module_loading import import_string

Contribution = TypeVar("Contribution")


@dataclass(frozen=True, slots=True)
class _Named:
    """Where a contribution is, by the names of its module and its own."""

    path: str


class ExtensionPoint(Generic[Contribution]):
    """The contributions that apps registered when they were ready, each once, in the order of registration.

    A service has one as a constant, typed by what it calls, and says there when it does so; apps register theirs in
    ``AppConfig.ready``.
    """

    def __init__(self) -> None:
        self._contributions: list[Contribution | _Named] = []

    def __iter__(self) -> Iterator[Contribution]:
        return iter([self._imported(one) for one in self._contributions])

    def register(self, contribution: Contribution) -> None:
        """Add a contribution; one that is equal to an earlier one changes nothing."""
        self._add(contribution)

    def register_named(self, path: str) -> None:
        """Add a contribution by its dotted path; its module is imported when somebody goes through the contributions.

        For modules that load much: apps are ready in every command, most of which call none of this.
        """
        self._add(_Named(path))

    def remove(self, contribution: Contribution) -> None:
        """Take a contribution back, for tests. Raises ValueError when it is not there."""
        self._contributions.remove(contribution)

    def _add(self, contribution: Contribution | _Named) -> None:
        if contribution not in self._contributions:
            self._contributions.append(contribution)

    @staticmethod
    def _imported(contribution: Contribution | _Named) -> Contribution:
        if isinstance(contribution, _Named):
            return cast("Contribution", import_string(contribution.path))
        return contribution
