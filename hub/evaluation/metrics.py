"""Measures of a ranking against gold passages. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingQuality:
    """Means over queries, each from 0 to 1."""

    queries: int
    ndcg: float
    recall: float
    mrr: float


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Compute nDCG@k with binary gains. Source: Järvelin & Kekäläinen 2002, discount 1 / log2(rank + 1).

    >>> ndcg_at(["b", "a"], {"a"}, 10) == 1 / math.log2(3)
    True
    """
    gain = sum(1 / math.log2(rank + 1) for rank, name in enumerate(ranked[:k], 1) if name in gold)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(gold), k) + 1))
    return gain / ideal if ideal else 0.0


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Compute the share of gold passages among the first k."""
    return len(set(ranked[:k]) & set(gold)) / len(gold) if gold else 0.0


def reciprocal_rank_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Compute one over the rank of the first gold passage among the first k, 0 when there is none."""
    return next((1 / rank for rank, name in enumerate(ranked[:k], 1) if name in gold), 0.0)


def evaluate(answers: Iterable[tuple[Sequence[str], Collection[str]]], *, k: int = 10) -> RankingQuality:
    """Average nDCG@k, recall@k and MRR@k over (ranked ids, gold ids) of each query. Raises ValueError for none."""
    rows = [(ndcg_at(*one, k), recall_at(*one, k), reciprocal_rank_at(*one, k)) for one in answers]
    if not rows:
        raise ValueError("no queries to evaluate")
    ndcg, recall, mrr = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return RankingQuality(queries=len(rows), ndcg=ndcg, recall=recall, mrr=mrr)
