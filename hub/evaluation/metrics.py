"""Measures of rankings and of verdicts against the right answers, and how sure one may be of them. Pure functions.

The positive class of verdicts is *fail*: a true positive is a defect that was found. A case that nobody decided is a
miss: for an expected fail a false negative, for an expected pass no agreement (but no false alarm either).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
CONFIDENCE = 0.95
SEED = 20_210_401  # fixed, so that the same scores give the same interval
FAIL, PASS, UNDECIDED = "fail", "pass", "undecided"
MEASURES = ("precision", "recall", "f1_score", "agreement", "false_positive_rate", "false_negative_rate")
REPRODUCIBILITY = "reproducibility"
BLOCK = 200
# Columns of a case's row, each times its weight.
TP, FP, FN, FAILS, PASSES, AGREED, ALL = range(7)
Matrix = npt.NDArray[np.float64]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was said of one case. ``stable`` says whether every round said the same (None: one round only)."""

    expected: str
    said: str
    weight: float = 1.0
    stable: bool | None = None


def measure(judged: Sequence[Judged], *, intervals: bool = True) -> dict[str, dict[str, float | None]]:
    """Compute every measure as {value, low, high}, rounded to six digits; null where there is nothing to divide by.

    Intervals are 95 % percentile bootstrap over cases, with a fixed seed.
    """
    rows = _matrix(judged)
    values = _ratios(rows.sum(axis=0, keepdims=True))
    drawn = _resampled(rows) if intervals and len(rows) else None
    found = {name: _entry(values[name][0], None if drawn is None else drawn[name]) for name in MEASURES}
    if any(one.stable is not None for one in judged):
        known = [one for one in judged if one.stable is not None]
        share = sum(one.weight for one in known if one.stable) / sum(one.weight for one in known)
        found[REPRODUCIBILITY] = {"value": round(share, 6), "low": None, "high": None}
    return found


def counts(judged: Sequence[Judged]) -> dict[str, int]:
    """Count cases (not weights) by what was said of them."""

    def number(expected: str, said: str) -> int:
        return sum(one.expected == expected and one.said == said for one in judged)

    return {
        "samples_evaluated": len(judged),
        "true_positives": number(FAIL, FAIL),
        "false_positives": number(PASS, FAIL),
        "false_negatives": number(FAIL, PASS) + number(FAIL, UNDECIDED),
        "true_negatives": number(PASS, PASS),
        "undecided": number(FAIL, UNDECIDED) + number(PASS, UNDECIDED),
    }


def figures(judged: Sequence[Judged], *, intervals: bool = True) -> dict[str, Any]:
    """Give measures and counts in one mapping, as a group of cases is shown."""
    return {"metrics": measure(judged, intervals=intervals), "details": counts(judged)}


def _matrix(judged: Sequence[Judged]) -> Matrix:
    rows = np.zeros((len(judged), 7), np.float64)
    for row, one in zip(rows, judged, strict=True):
        is_fail, says_fail = one.expected == FAIL, one.said == FAIL
        row[:] = (
            is_fail and says_fail,
            not is_fail and says_fail,
            is_fail and not says_fail,
            is_fail,
            not is_fail,
            one.said == one.expected,
            1,
        )
        row *= one.weight
    return rows


def _ratios(sums: Matrix) -> Mapping[str, npt.NDArray[np.float64]]:
    """Each measure of each row of summed columns; NaN where there is nothing to divide by."""
    parts = {
        "precision": (sums[:, TP], sums[:, TP] + sums[:, FP]),
        "recall": (sums[:, TP], sums[:, FAILS]),
        "f1_score": (2 * sums[:, TP], 2 * sums[:, TP] + sums[:, FP] + sums[:, FN]),
        "agreement": (sums[:, AGREED], sums[:, ALL]),
        "false_positive_rate": (sums[:, FP], sums[:, PASSES]),
        "false_negative_rate": (sums[:, FN], sums[:, FAILS]),
    }
    empty = np.full(len(sums), np.nan)
    return {name: np.divide(above, below, out=empty.copy(), where=below > 0) for name, (above, below) in parts.items()}


def _resampled(rows: Matrix) -> Mapping[str, npt.NDArray[np.float64]]:
    """The measures of RESAMPLES draws with replacement, in blocks so that memory stays small."""
    random, number = np.random.default_rng(SEED), len(rows)
    sums = [
        random.multinomial(number, np.full(number, 1 / number), size=BLOCK).astype(np.float64) @ rows
        for _block in range(RESAMPLES // BLOCK)
    ]
    return _ratios(np.concatenate(sums))


def _entry(value: float, drawn: npt.NDArray[np.float64] | None) -> dict[str, float | None]:
    if np.isnan(value):
        return {"value": None, "low": None, "high": None}
    usable = drawn[~np.isnan(drawn)] if drawn is not None else np.empty(0)
    if not len(usable):
        return {"value": round(float(value), 6), "low": None, "high": None}
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(usable, [tail, 100 - tail])
    return {"value": round(float(value), 6), "low": round(float(low), 6), "high": round(float(high), 6)}
