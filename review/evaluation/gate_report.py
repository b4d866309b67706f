"""What the gate found of a candidate, dataset by dataset, and its shape in answers; REST and CLI show the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field

from hub.core.shapes import TextOrNone, filled
from hub.evaluation.metrics import MEASURES
from hub.evaluation.models import EvaluationDataset, EvaluationRun
from review.evaluation.schemas import ComparisonOut, comparison_out

OFF, WARN, REFUSE = "off", "warn", "refuse"

Flip = dict[str, Any]
MEASURED = (*MEASURES, "ndcg@10", "recall@10", "mrr@10")


class Standing(StrEnum):
    """How a candidate does on a dataset, against what is in force."""

    NOT_MEASURED = "not_measured"
    PENDING = "pending"
    BETTER = "better"
    SAME = "same"
    WORSE = "worse"
    UNKNOWN = "unknown"


BLOCKING: Mapping[str, frozenset[Standing]] = {
    OFF: frozenset(),
    WARN: frozenset({Standing.NOT_MEASURED, Standing.PENDING}),
    REFUSE: frozenset({Standing.NOT_MEASURED, Standing.PENDING, Standing.WORSE, Standing.UNKNOWN}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A candidate on one dataset. ``reason`` says why nothing is known; ``run`` is the candidate's, compared."""

    dataset: EvaluationDataset
    standing: Standing
    run: EvaluationRun | None = None
    reason: str = ""

    @property
    def flips(self) -> list[Flip]:
        """The cases that were answered otherwise, those that got worse first; each says whether it did."""
        rows = self.run.flips if self.run else []
        return [{**row, "is_worse": is_worse(row)} for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """A candidate, by name, on all datasets that guard it.

    ``readable`` are the ids of those that the caller reads, ``hidden_cases`` of the cases in them that they do not.
    """

    candidate: str
    mode: str
    comparisons: tuple[Comparison, ...] = ()
    readable: frozenset[int] = frozenset()
    hidden_cases: frozenset[int] = frozenset()

    @property
    def runs(self) -> tuple[EvaluationRun, ...]:
        return tuple(one.run for one in self.comparisons if one.run)

    @property
    def regressions(self) -> tuple[EvaluationRun, ...]:
        return tuple(one.run for one in self.of(Standing.WORSE) if one.run)

    @property
    def may_be_published(self) -> bool:
        """Whether the gate would let the candidate through as things are."""
        return not any(one.standing in BLOCKING[self.mode] for one in self.comparisons)

    def of(self, standing: Standing) -> tuple[Comparison, ...]:
        """The comparisons that ended so."""
        return tuple(one for one in self.comparisons if one.standing is standing)

    def is_readable(self, comparison: Comparison) -> bool:
        """Whether the caller may see the dataset's cases."""
        return comparison.dataset.pk in self.readable

    def flips_of(self, comparison: Comparison) -> list[Flip]:
        """The flipped cases that the caller may see."""
        if not self.is_readable(comparison):
            return []
        return [flip for flip in comparison.flips if flip["case"] not in self.hidden_cases]


def is_worse(flip: Mapping[str, Any]) -> bool:
    """Return whether a flipped case is wrong now, or, for a question, found less."""
    return bool(flip["is_worse"]) if "is_worse" in flip else flip["after"] < flip["before"]


class MeasureOut(BaseModel):
    value: float | None
    low: float | None = Field(description="of the 95 % bootstrap interval")
    high: float | None


class GuardOut(BaseModel):
    dataset: str
    standing: str = Field(description="better, same, worse, unknown, pending or not_measured")
    reason: TextOrNone = Field(description="why nothing is known, and what to do")
    evaluation_id: str | None
    progress: int
    measures: dict[str, MeasureOut]
    comparison: ComparisonOut | None = Field(description="against what is in force; null until it is there")


class GateOut(BaseModel):
    candidate: str
    mode: str = Field(description="off, warn or refuse (HUB_EVALUATION_GATE)")
    may_be_published: bool = Field(description="whether the gate would let it through as things are")
    guards: list[GuardOut] = Field(description="one for each dataset that guards it")


def gate_out(report: GateReport) -> GateOut:
    """A candidate on each dataset that guards it; cases only of datasets that the caller reads."""
    return filled(GateOut, report, guards=[_guard_out(report, one) for one in report.comparisons])


def _guard_out(report: GateReport, one: Comparison) -> GuardOut:
    run = one.run
    metrics: dict[str, Any] = run.metrics if run else {}
    comparison = None
    if run and "delta" in metrics:
        comparison = comparison_out(run).model_copy(update={"flips": report.flips_of(one)})
    return filled(
        GuardOut,
        one,
        dataset=one.dataset.code,
        evaluation_id=run.public_id if run else None,
        progress=run.progress if run else 0,
        measures={name: metrics[name] for name in MEASURED if name in metrics},
        comparison=comparison,
    )
