"""Shapes of evaluation: datasets, cases, imports and runs; REST, MCP and CLI show the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.core.shapes import filled
from hub.evaluation.cases import BadRow, ParsedCase
from hub.evaluation.metrics import REPRODUCIBILITY
from hub.evaluation.models import EvaluationCase, EvaluationDataset, EvaluationRun

PROBLEMS_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """What an import would do. ``bad`` rows stop it, ``skipped`` ones are left out by design."""

    dataset: EvaluationDataset
    cases: tuple[ParsedCase, ...]
    created: int
    replaced: int
    unchanged: int
    bad: tuple[BadRow, ...]
    skipped: tuple[BadRow, ...]
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


class ReadersOut(BaseModel):
    """Who reads a dataset."""

    code: str
    readers: list[str]


def readers_out(row: EvaluationDataset) -> ReadersOut:
    """Say who reads a dataset, by user name."""
    return ReadersOut(code=row.code, readers=sorted(row.readers.values_list("username", flat=True)))


def dataset_out(row: EvaluationDataset) -> DatasetOut:
    """Expects what ``list_datasets`` selects."""
    return filled(DatasetOut, row, readers=sorted(user.get_username() for user in row.readers.all()))


def case_out(case: EvaluationCase) -> CaseOut:
    """A case as every door gives it."""
    return filled(CaseOut, case, case_id=case.pk)


def import_out(preview: ImportPreview) -> CaseImportOut:
    """What an import did, or would do; at most PROBLEMS_SHOWN rows of each kind."""
    return filled(
        CaseImportOut,
        preview,
        dataset=preview.dataset.code,
        bad_rows=preview.bad[:PROBLEMS_SHOWN],
        skipped_rows=preview.skipped[:PROBLEMS_SHOWN],
        unknown_documents=preview.unknown_documents[:PROBLEMS_SHOWN],
    )


def evaluation_row_out(run: EvaluationRun, metrics: Sequence[str]) -> EvaluationRowOut:
    """A run with the chosen measures. Expects dataset to be selected."""
    values = {name: run.metrics[name]["value"] for name in metrics if name in run.metrics}
    return filled(EvaluationRowOut, run, evaluation_id=run.public_id, dataset=run.dataset.code, metrics=values)


def evaluation_out(run: EvaluationRun, metrics: Sequence[str]) -> EvaluationOut:
    """A run with its figures by group and its comparison. Expects dataset and baseline to be selected."""
    details = run.details
    return filled(
        EvaluationOut,
        evaluation_row_out(run, metrics),
        error=run.error or None,
        model_part=_model_part(run),
        intervals={name: run.metrics[name] for name in metrics if name in run.metrics and name != REPRODUCIBILITY},
        details=details.get("counts", {}),
        comparison=comparison_out(run) if "delta" in run.metrics else None,
        notices=details.get("notices", []),
        **{name: details.get(name, {}) for name in ("by_check_type", "by_document", "by_item")},
    )


def _model_part(run: EvaluationRun) -> ModelPartOut | None:
    part, asked = run.details.get("model", {}), run.parameters.get("model_asked") or {}
    if not (part.get("answered") or part.get("left_open")):
        return None
    known: dict[str, Any] = dict.fromkeys(ModelPartOut.model_fields, 0) | {
        "provider": None,
        "model": None,
        "left_open": {},
    }
    return ModelPartOut.model_validate(known | asked | part | run.details.get("usage", {}))


def deltas_of(run: EvaluationRun) -> dict[str, float | None]:
    """How much each measure of a run differs from its baseline's; empty without one."""
    changes = run.metrics.get("delta", {})
    return {name: change["value"] if isinstance(change, dict) else change for name, change in changes.items()}


def comparison_out(run: EvaluationRun) -> ComparisonOut:
    """Show how a run differs from its baseline; expects that to be selected, and a delta among the measures."""
    return ComparisonOut(
        baseline_evaluation_id=run.baseline.public_id if run.baseline else None,
        baseline_metrics=run.metrics.get("baseline", {}),
        delta=deltas_of(run),
        improved=bool(run.metrics.get("improved")),
        regression=bool(run.metrics.get("regression")),
        compared_cases=run.details.get("compared_cases", 0),
        flips=run.flips,
    )
