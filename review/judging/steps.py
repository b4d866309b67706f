"""What became of each step of a review: the rules, the judge, the second opinion, the reading of the whole document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from knowledge.types.notices import Notice


class StepName(StrEnum):
    RULES = "rules"
    JUDGE = "judge"
    SECOND_OPINION = "second_opinion"
    SWEEP = "sweep"


class StepState(StrEnum):
    """``partly``: something of it failed, and a notice says what. ``off``: not wanted. ``no_model``: nobody to ask."""

    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"
    OFF = "off"
    NO_MODEL = "no_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What something takes of the strong model at most, whatever is found."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """What a step came to. ``counts`` and ``categories`` are shown to people; ``record`` is what a replay needs.

    ``categories`` are those that the document was read for.
    """

    state: StepState
    notices: tuple[Notice, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As it is stored with the review."""
        facts = {"state": self.state.value, "counts": dict(self.counts), "record": dict(self.record)}
        read = {"categories": list(self.categories)} if self.categories else {}
        return {**facts, **read, "notices": [notice.as_dict() for notice in self.notices]}


def stored_outcome(row: Mapping[str, Any]) -> StepOutcome:
    """A step's outcome as it was stored."""
    return StepOutcome(
        state=StepState(row["state"]),
        notices=tuple(Notice(**notice) for notice in row["notices"]),
        counts=row["counts"],
        categories=tuple(row.get("categories", ())),
        record=row["record"],
    )
