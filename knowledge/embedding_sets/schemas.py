"""The shapes of embedding sets, of their progress, and of one held against another."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

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
    status_reason: str | None = Field(description="why building does not go on")
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
    error: str | None = Field(description="why it failed")
    baseline_run_id: str | None
    dataset: str
    subject: str
    baseline: str | None
    metrics: dict[str, Any]
    baseline_metrics: dict[str, Any]
    flips: list[dict[str, Any]] = Field(description="questions whose recall changed, those that lost first")


def embedding_set_out(row: EmbeddingSet, progress: SetProgress | None) -> EmbeddingSetOut:
    """Expects the policy to be selected."""
    policy = row.policy
    return EmbeddingSetOut(
        name=row.name,
        backend=row.backend,
        model=row.model,
        base_url=row.base_url,
        dimension=row.dimension,
        max_tokens=row.max_tokens,
        policy=str(policy),
        chunking=ChunkingOut(strategy=policy.strategy, size=policy.size, overlap=policy.overlap, unit=policy.unit),
        status=row.status,
        status_reason=row.status_reason or None,
        is_active=row.is_active,
        done=progress.done if progress else None,
        total=progress.total if progress else None,
        progress=progress.percent if progress else None,
        per_second=progress.per_second if progress else None,
        eta_s=progress.eta_s if progress else None,
        created_at=row.created_at,
        built_at=row.built_at,
        activated_at=row.activated_at,
    )


def comparison_out(run: EvaluationRun) -> ComparisonOut:
    """Expects the run of a comparison, with its dataset and baseline."""
    baseline = run.baseline
    return ComparisonOut(
        run_id=run.public_id,
        status=run.status,
        progress=(run.progress + baseline.progress) // 2 if baseline else run.progress,
        error=run.error or None,
        baseline_run_id=baseline.public_id if baseline else None,
        dataset=run.dataset.code,
        subject=run.subject,
        baseline=baseline.subject if baseline else None,
        metrics=run.metrics,
        baseline_metrics=baseline.metrics if baseline else {},
        flips=run.flips,
    )
