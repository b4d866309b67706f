"""Fit boosted trees to judged rows: gradient boosting of the logarithm of the odds, with numpy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.answering.chance import Trees


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How many trees, how deep, how much each counts; ``ridge`` and ``least`` keep leaves with few rows small."""

    trees: int = 160
    depth: int = 4
    rate: float = 0.08
    ridge: float = 6.0
    least: float = 6.0
    rows: float = 0.8
    columns: float = 0.5
    bins: int = 48
    seed: int = 20261125


def fit_trees(
    names: tuple[str, ...],
    rows: NDArray[np.float64],
    labels: NDArray[np.float64],
    weights: NDArray[np.float64],
    settings: Settings = Settings(),
) -> Trees:
    """Fit trees to rows of signs that answer (1) or don't (0); the same rows give the same trees."""
    random = np.random.default_rng(settings.seed)
    limits = [_limits(rows[:, column], settings.bins) for column in range(rows.shape[1])]
    binned = np.stack([_binned(rows[:, column], limits[column]) for column in range(rows.shape[1])], axis=1)
    share = float(np.average(labels, weights=weights))
    base = float(np.log(share / (1 - share)))
    odds = np.full(len(rows), base)
    grown = []
    for _number in range(settings.trees):
        chance = 1 / (1 + np.exp(-odds))
        kept = random.random(len(rows)) < settings.rows
        columns = random.choice(rows.shape[1], max(1, int(rows.shape[1] * settings.columns)), replace=False)
        slope, bend = weights * (labels - chance), weights * chance * (1 - chance)
        signs, cuts, values = _grow(binned, slope * kept, bend * kept, columns, limits, settings)
        odds += values[_leaves(rows, signs, cuts, settings.depth)]
        grown.append((signs, cuts, values))
    return Trees(
        names=names,
        base=base,
        signs=np.stack([one[0] for one in grown]),
        limits=np.stack([one[1] for one in grown]),
        values=np.stack([one[2] for one in grown]),
    )


def _limits(values: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Between which values a sign may be cut: halfway between its quantiles."""
    known = np.unique(np.quantile(values[~np.isnan(values)], np.linspace(0, 1, bins + 1), method="nearest"))
    return np.round((known[:-1] + known[1:]) / 2, 5)


def _binned(values: NDArray[np.float64], limits: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number the stretches between limits from 1; NaN is in the first, left of every limit."""
    return np.where(np.isnan(values), 0, np.searchsorted(limits, values, side="left"))


def _grow(
    binned: NDArray[np.int64],
    slope: NDArray[np.float64],
    bend: NDArray[np.float64],
    columns: NDArray[np.int64],
    limits: list[NDArray[np.float64]],
    settings: Settings,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Grow one tree of full depth; where no cut helps, all go left."""
    inner = 2**settings.depth - 1
    signs, cuts = np.zeros(inner, np.int64), np.full(inner, np.inf)
    place = np.zeros(len(binned), np.int64)
    for level in range(settings.depth):
        first, width = 2**level - 1, 2**level
        best = np.full(width, 1e-9)
        chosen = np.full(width, -1)
        for column in columns:
            stretches = len(limits[column]) + 1
            if stretches < 2:
                continue
            where = (place - first) * stretches + binned[:, column]
            gains, at = _gains(where, slope, bend, (width, stretches), settings)
            better = gains > best
            best = np.where(better, gains, best)
            for node in np.flatnonzero(better):
                signs[first + node], chosen[node] = column, at[node]
                cuts[first + node] = limits[column][at[node]]
        node = place - first
        looked_at = signs[place]
        goes_right = (chosen[node] >= 0) & (binned[np.arange(len(binned)), looked_at] > chosen[node])
        place = 2 * place + 1 + goes_right
    leaf = place - inner
    down = np.bincount(leaf, weights=slope, minlength=inner + 1)
    curve = np.bincount(leaf, weights=bend, minlength=inner + 1)
    return signs, cuts, settings.rate * down / (curve + settings.ridge)


def _gains(
    where: NDArray[np.int64],
    slope: NDArray[np.float64],
    bend: NDArray[np.float64],
    shape: tuple[int, int],
    settings: Settings,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The best cut of one sign in each node, and what it gains."""
    size = shape[0] * shape[1]
    left_slope = np.bincount(where, weights=slope, minlength=size).reshape(shape).cumsum(axis=1)
    left_bend = np.bincount(where, weights=bend, minlength=size).reshape(shape).cumsum(axis=1)
    slopes, bends = left_slope[:, -1:], left_bend[:, -1:]
    right_slope, right_bend = slopes - left_slope, bends - left_bend
    gain = (
        left_slope**2 / (left_bend + settings.ridge)
        + right_slope**2 / (right_bend + settings.ridge)
        - slopes**2 / (bends + settings.ridge)
    )
    gain[(left_bend < settings.least) | (right_bend < settings.least)] = -np.inf
    gain = gain[:, :-1]
    at = gain.argmax(axis=1)
    return gain[np.arange(shape[0]), at], at


def _leaves(
    rows: NDArray[np.float64], signs: NDArray[np.int64], cuts: NDArray[np.float64], depth: int
) -> NDArray[np.int64]:
    place = np.zeros(len(rows), np.int64)
    for _level in range(depth):
        place = 2 * place + 1 + (rows[np.arange(len(rows)), signs[place]] > cuts[place])
    return place - len(signs)
