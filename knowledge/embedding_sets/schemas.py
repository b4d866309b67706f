"""The shapes of embedding sets, of their progress, and of one held against another."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.core.shapes import TextOrNone, filled
from hub.evaluation.models import EvaluationRun
from knowledge.documents.source_schemas import ChunkingOut
from knowledge.embedding_sets.builds import SetProgress
from knowledge.models import EmbeddingSet


class EmbeddingSetOut(BaseModel):
    """One generation of vectors. The five numbers of its progress are null for a dropped set."""

    name: str
    backend: str
    model: str
    base_url: str
    dimension: int
    max_tokens: int
    policy: str = Field(description="how documents are cut for it, in words")
    chunking: ChunkingOut
    status: str = Field(description="building, ready or dropped")
    status_reason: TextOrNone = Field(description="why building does not go on")
    is_active: bool = Field(description="search uses this one")
    done: int | None = Field(description="passages that have a vector")
    total: int | None
    progress: int | None = Field(description="0 to 100")
    per_second: float | None
    eta_s: float | None = Field(description="seconds left; null while unknown")
    created_at: datetime
    built_at: datetime | None = Field(description="when it was complete for the first time")
    activated_at: datetime | None = Field(description="when search last changed to it")


class EmbeddingSetsOut(BaseModel):
    embedding_sets: list[EmbeddingSetOut]


class ComparisonOut(BaseModel):
    """Two sets asked the same questions. ``metrics`` are the set's, with ``delta`` to the baseline and ``improved``.

    Until it is completed ``metrics``, ``baseline_metrics`` and ``flips`` may be empty.
    """

    run_id: str
    status: str = Field(description="queued, running, completed or failed")
    progress: int = Field(description="0 to 100, of both sets together")
    error: TextOrNone = Field(description="why it failed")
    baseline_run_id: str | None
    dataset: str
    subject: str
    baseline: str | None
    metrics: dict[str, Any]
    baseline_metrics: dict[str, Any]
    flips: list[dict[str, Any]] = Field(description="questions whose recall changed, those that lost first")


def embedding_set_out(row: EmbeddingSet, progress: SetProgress | None) -> EmbeddingSetOut:
    """Expects the policy to be selected."""
    numbers = {name: getattr(progress, name, None) for name in ("done", "total", "per_second", "eta_s")}
    percent = progress.percent if progress else None
    return filled(EmbeddingSetOut, row, policy=str(row.policy), chunking=row.policy, progress=percent, **numbers)


def comparison_out(run: EvaluationRun) -> ComparisonOut:
    """Expects the run of a comparison, with its dataset and baseline."""
    baseline = run.baseline
    return filled(
        ComparisonOut,
        run,
        run_id=run.public_id,
        progress=(run.progress + baseline.progress) // 2 if baseline else run.progress,
        baseline_run_id=baseline.public_id if baseline else None,
        dataset=run.dataset.code,
        baseline=baseline.subject if baseline else None,
        baseline_metrics=baseline.metrics if baseline else {},
    )
