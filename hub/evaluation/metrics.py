"""Measures of a ranking against gold passages, and how sure one may be of a mean. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
CONFIDENCE = 0.95
SEED = 20_210_401  # fixed, so that the same scores give the same interval


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A weighted mean and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Give the three numbers, rounded to six digits, for JSON."""
        return {name: round(getattr(self, name), 6) for name in ("value", "low", "high")}


def bootstrap_mean(scores: Sequence[float], weights: Sequence[float]) -> Interval:
    """Resample cases with replacement and take the percentiles of their weighted means.

    For the difference of two subjects give each case's difference: cases stay paired, as Sakai 2006 asks.
    :raises ValueError: no scores, as many weights as scores are not given, or they sum to nothing.
    """
    if not scores or len(scores) != len(weights) or sum(weights) <= 0:
        raise ValueError("expected one score or more and as many weights, with a sum above 0")
    values, heavy = np.asarray(scores, np.float64), np.asarray(weights, np.float64)
    drawn = np.random.default_rng(SEED).integers(len(values), size=(RESAMPLES, len(values)))
    mass = heavy[drawn].sum(axis=1)
    means = (values * heavy)[drawn].sum(axis=1)[mass > 0] / mass[mass > 0]
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    return Interval(value=float(np.average(values, weights=heavy)), low=float(low), high=float(high))
