"""Means of the measures of rankings over a set of queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from hub.evaluation.metrics import ndcg_at, recall_at, reciprocal_rank_at


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingQuality:
    """Means over queries, each from 0 to 1."""

    queries: int
    ndcg: float
    recall: float
    mrr: float


def evaluate(answers: Iterable[tuple[Sequence[str], Collection[str]]], *, k: int = 10) -> RankingQuality:
    """Average nDCG@k, recall@k and MRR@k over (ranked ids, gold ids) of each query. Raises ValueError for none."""
    rows = [(ndcg_at(*one, k), recall_at(*one, k), reciprocal_rank_at(*one, k)) for one in answers]
    if not rows:
        raise ValueError("no queries to evaluate")
    ndcg, recall, mrr = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return RankingQuality(queries=len(rows), ndcg=ndcg, recall=recall, mrr=mrr)
