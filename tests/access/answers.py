"""What a door answered a person: refused, open, or open with something of the collection in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether the door opened, and whether the answer showed something of the collection; ``told`` is for people."""

    is_open: bool
    shows: bool = False
    told: str = ""


# door -> person -> answer
Observed = dict[str, dict[str, Answer]]


def who_may(answers: Mapping[str, Answer]) -> frozenset[str]:
    """Name those to whom the door opened."""
    return frozenset(person for person, answer in answers.items() if answer.is_open)


def who_sees(answers: Mapping[str, Answer]) -> frozenset[str]:
    """Name those who were shown something of the collection."""
    return frozenset(person for person, answer in answers.items() if answer.shows)
