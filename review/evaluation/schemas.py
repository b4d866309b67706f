"""Shapes of evaluation: datasets, cases, imports and runs; REST, MCP and CLI show the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.evaluation.cases import ParsedCase
from hub.evaluation.metrics import REPRODUCIBILITY
from hub.evaluation.models import EvaluationCase, EvaluationDataset, EvaluationRun

PROBLEMS_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RowProblem:
    """A row that makes no case, by its number as an editor or Excel shows it."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """What an import would do. ``bad`` rows stop it, ``skipped`` ones are left out by design."""

    dataset: EvaluationDataset
    cases: tuple[ParsedCase, ...]
    created: int
    replaced: int
    unchanged: int
    bad: tuple[RowProblem, ...]
    skipped: tuple[RowProblem, ...]
    unknown_documents: tuple[str, ...]


class DatasetOut(BaseModel):
    code: str
    name: str
    review_cases: int
    retrieval_cases: int
    is_nightly: bool
    guards: list[str] = Field(description="what may not go live doing worse here, such as checklist:basic-design")
    readers: list[str]
    created_at: datetime


class CaseOut(BaseModel):
    case_id: int
    kind: str = Field(description="review or retrieval")
    input: dict[str, Any]
    expected: dict[str, Any]
    weight: float
    created_at: datetime


class RowProblemOut(BaseModel):
    row: int = Field(description="from 1; in Excel the sheet's own line")
    reason: str


class CaseImportOut(BaseModel):
    dataset: str
    created: int
    replaced: int
    unchanged: int
    bad_rows: list[RowProblemOut]
    skipped_rows: list[RowProblemOut]
    unknown_documents: list[str] = Field(description="documents of the cases that are not there for you (yet)")


class IntervalOut(BaseModel):
    low: float | None
    high: float | None


class EvaluationDetailsOut(BaseModel):
    true_positives: int | None = None
    false_positives: int | None = None
    false_negatives: int | None = None
    true_negatives: int | None = None
    undecided: int | None = None
    samples_evaluated: int = 0


class ComparisonOut(BaseModel):
    baseline_evaluation_id: str | None
    baseline_metrics: dict[str, float | None]
    delta: dict[str, float | None]
    improved: bool
    regression: bool
    compared_cases: int
    flips: list[dict[str, Any]] = Field(description="cases answered otherwise, those that got worse first")


class EvaluationRowOut(BaseModel):
    evaluation_id: str
    dataset: str
    kind: str
    subject: str = Field(description="what was measured: check list versions, or an embedding set")
    status: str = Field(description="queued, running, completed or failed")
    progress: int
    is_baseline: bool
    metrics: dict[str, float | None]
    created_at: datetime
    finished_at: datetime | None


class ModelPartOut(BaseModel):
    """What a language model had to do with a run."""

    provider: str | None = Field(
        description="the one that was asked in this run; null where recorded verdicts were read"
    )
    model: str | None
    answered: int = Field(description="cases that it answered")
    left_open: dict[str, int] = Field(description="cases that it should have answered, by the reason why it did not")
    tokens_in: int
    tokens_out: int


class EvaluationOut(EvaluationRowOut):
    error: str | None
    model_part: ModelPartOut | None = Field(description="null where rules answered all")
    intervals: dict[str, IntervalOut] = Field(description="95 % bootstrap intervals")
    details: EvaluationDetailsOut
    comparison: ComparisonOut | None = Field(description="null without a baseline")
    by_check_type: dict[str, Any]
    by_document: dict[str, Any] = Field(description="each document's figures, and under `without` those of all others")
    by_item: dict[str, Any]
    notices: list[dict[str, str]]


def dataset_out(row: EvaluationDataset) -> DatasetOut:
    """Expects what ``list_datasets`` selects."""
    return DatasetOut(
        code=row.code,
        name=row.name,
        review_cases=row.review_cases,  # type: ignore[attr-defined]  # annotated
        retrieval_cases=row.retrieval_cases,  # type: ignore[attr-defined]
        is_nightly=row.is_nightly,
        guards=row.guards,
        readers=sorted(user.get_username() for user in row.readers.all()),
        created_at=row.created_at,
    )


def case_out(case: EvaluationCase) -> CaseOut:
    """A case as every door gives it."""
    return CaseOut(
        case_id=case.pk,
        kind=case.kind,
        input=case.input,
        expected=case.expected,
        weight=case.weight,
        created_at=case.created_at,
    )


def import_out(preview: ImportPreview) -> CaseImportOut:
    """What an import did, or would do; at most PROBLEMS_SHOWN rows of each kind."""
    return CaseImportOut(
        dataset=preview.dataset.code,
        created=preview.created,
        replaced=preview.replaced,
        unchanged=preview.unchanged,
        bad_rows=_problems(preview.bad),
        skipped_rows=_problems(preview.skipped),
        unknown_documents=list(preview.unknown_documents[:PROBLEMS_SHOWN]),
    )


def _problems(rows: Sequence[RowProblem]) -> list[RowProblemOut]:
    return [RowProblemOut(row=row.number, reason=row.reason) for row in rows[:PROBLEMS_SHOWN]]


def evaluation_row_out(run: EvaluationRun, metrics: Sequence[str]) -> EvaluationRowOut:
    """A run with the chosen measures. Expects dataset to be selected."""
    return EvaluationRowOut(
        evaluation_id=run.public_id,
        dataset=run.dataset.code,
        kind=run.kind,
        subject=run.subject,
        status=run.status,
        progress=run.progress,
        is_baseline=run.is_baseline,
        metrics={name: entry["value"] for name, entry in _measures(run, metrics).items()},
        created_at=run.created_at,
        finished_at=run.finished_at,
    )


def evaluation_out(run: EvaluationRun, metrics: Sequence[str]) -> EvaluationOut:
    """A run with its figures by group and its comparison. Expects dataset and baseline to be selected."""
    details = run.details
    intervals = {
        name: IntervalOut(low=entry["low"], high=entry["high"])
        for name, entry in _measures(run, metrics).items()
        if name != REPRODUCIBILITY
    }
    return EvaluationOut(
        **dict(evaluation_row_out(run, metrics)),
        error=run.error or None,
        model_part=_model_part(run),
        intervals=intervals,
        details=EvaluationDetailsOut(**details.get("counts", {})),
        comparison=_comparison(run),
        by_check_type=details.get("by_check_type", {}),
        by_document=details.get("by_document", {}),
        by_item=details.get("by_item", {}),
        notices=details.get("notices", []),
    )


def _model_part(run: EvaluationRun) -> ModelPartOut | None:
    part, asked = run.details.get("model", {}), run.parameters.get("model_asked") or {}
    if not (part.get("answered") or part.get("left_open")):
        return None
    used = run.details.get("usage", {})
    return ModelPartOut(
        provider=asked.get("provider"),
        model=asked.get("model"),
        answered=part.get("answered", 0),
        left_open=part.get("left_open", {}),
        tokens_in=used.get("tokens_in", 0),
        tokens_out=used.get("tokens_out", 0),
    )


def _measures(run: EvaluationRun, names: Sequence[str]) -> dict[str, dict[str, float | None]]:
    return {name: run.metrics[name] for name in names if name in run.metrics}


def _comparison(run: EvaluationRun) -> ComparisonOut | None:
    return comparison_out(run) if "delta" in run.metrics else None


def comparison_out(run: EvaluationRun) -> ComparisonOut:
    """Show how a run differs from its baseline; expects that to be selected, and a delta among the measures."""
    delta = {
        name: change["value"] if isinstance(change, dict) else change for name, change in run.metrics["delta"].items()
    }
    return ComparisonOut(
        baseline_evaluation_id=run.baseline.public_id if run.baseline else None,
        baseline_metrics=run.metrics.get("baseline", {}),
        delta=delta,
        improved=bool(run.metrics.get("improved")),
        regression=bool(run.metrics.get("regression")),
        compared_cases=run.details.get("compared_cases", 0),
        flips=run.flips,
    )
