"""One run held against another, case by case. Pure.

Only cases that both runs judged, with the same expected answer, are compared: a dataset may have grown in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hub.evaluation.classification import MEASURES, Judged, measure

Score = Mapping[str, Any]
LEADING = ("f1_score", "agreement")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A case that was answered otherwise; ``is_worse`` when it was right before."""

    case: str
    expected: str
    before: str
    after: str

    @property
    def is_worse(self) -> bool:
        return self.before == self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """``delta`` is after minus before (null where either is); ``improved`` and ``regression`` may both be false."""

    cases: int
    baseline: Mapping[str, float | None]
    delta: Mapping[str, float | None]
    improved: bool
    regression: bool
    flips: Sequence[Flip]


def judged_of(score: Score) -> Judged:
    """Read a case's stored score."""
    return Judged(expected=score["expected"], said=score["said"], weight=score["weight"], stable=score.get("stable"))


def compare(before: Mapping[str, Score], after: Mapping[str, Score]) -> Comparison:
    """Compare the stored scores of two runs by case id. F1 decides; where there is none, agreement."""
    shared = [name for name, score in after.items() if name in before and before[name]["expected"] == score["expected"]]
    old, new = (
        _values([judged_of(scores[name]) for name in shared]) if shared else dict.fromkeys(MEASURES)
        for scores in (before, after)
    )
    delta = {name: _difference(old[name], new[name]) for name in MEASURES}
    change = next((delta[name] for name in LEADING if delta[name] is not None), None) or 0.0
    flips = [
        Flip(case=name, expected=after[name]["expected"], before=before[name]["said"], after=after[name]["said"])
        for name in shared
        if before[name]["said"] != after[name]["said"]
    ]
    return Comparison(
        cases=len(shared),
        baseline=old,
        delta=delta,
        improved=change > 0,
        regression=change < 0,
        flips=sorted(flips, key=lambda flip: not flip.is_worse),
    )


def _values(judged: Sequence[Judged]) -> dict[str, float | None]:
    return {name: entry["value"] for name, entry in measure(judged, intervals=False).items() if name in MEASURES}


def _difference(old: float | None, new: float | None) -> float | None:
    return None if old is None or new is None else round(new - old, 6)
