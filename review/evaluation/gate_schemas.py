"""Shapes of the gate and of the prompts that pass it; REST and CLI show the same."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.evaluation.classification import MEASURES
from review.evaluation.gate_report import Comparison, GateReport
from review.evaluation.schemas import ComparisonOut, comparison_out
from review.models import JudgePrompt

MEASURED = (*MEASURES, "ndcg@10", "recall@10", "mrr@10")


class MeasureOut(BaseModel):
    value: float | None
    low: float | None = Field(description="of the 95 % bootstrap interval")
    high: float | None


class GuardOut(BaseModel):
    dataset: str
    standing: str = Field(description="better, same, worse, unknown, pending or not_measured")
    reason: str | None = Field(description="why nothing is known, and what to do")
    evaluation_id: str | None
    progress: int
    measures: dict[str, MeasureOut]
    comparison: ComparisonOut | None = Field(description="against what is in force; null until it is there")


class GateOut(BaseModel):
    candidate: str
    mode: str = Field(description="off, warn or refuse (HUB_EVALUATION_GATE)")
    may_be_published: bool = Field(description="whether the gate would let it through as things are")
    guards: list[GuardOut] = Field(description="one for each dataset that guards it")


class PromptOut(BaseModel):
    kind: str = Field(description="judge or screen")
    version: int
    status: str = Field(description="draft, published or retired")
    candidate: str = Field(description="as the gate and evaluation runs name it")
    text: str
    note: str
    author: str | None
    created_at: datetime
    published_at: datetime | None


def gate_out(report: GateReport) -> GateOut:
    """A candidate on each dataset that guards it; cases only of datasets that the caller reads."""
    return GateOut(
        candidate=report.candidate,
        mode=report.mode,
        may_be_published=report.may_be_published,
        guards=[_guard_out(report, one) for one in report.comparisons],
    )


def _guard_out(report: GateReport, one: Comparison) -> GuardOut:
    run = one.run
    metrics: dict[str, Any] = run.metrics if run else {}
    return GuardOut(
        dataset=one.dataset.code,
        standing=one.standing.value,
        reason=one.reason or None,
        evaluation_id=run.public_id if run else None,
        progress=run.progress if run else 0,
        measures={name: MeasureOut(**metrics[name]) for name in MEASURED if name in metrics},
        comparison=_comparison(report, one) if "delta" in metrics else None,
    )


def _comparison(report: GateReport, one: Comparison) -> ComparisonOut | None:
    if one.run is None:
        return None
    return comparison_out(one.run).model_copy(update={"flips": report.flips_of(one)})


def prompt_out(prompt: JudgePrompt) -> PromptOut:
    """A version of a prompt. Expects the author to be selected."""
    return PromptOut(
        kind=prompt.kind,
        version=prompt.number,
        status=prompt.status,
        candidate=f"prompt:{prompt.kind}@{prompt.number}",
        text=prompt.text,
        note=prompt.note,
        author=prompt.author.get_username() if prompt.author else None,
        created_at=prompt.created_at,
        published_at=prompt.published_at,
    )
