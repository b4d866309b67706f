"""The chance that a sentence answers a question, by its signs: boosted trees that were fitted on judged questions.

``chances.json`` holds what ``python -m benchmarks.answers --fit`` wrote: the signs' names in their order, and trees
whose values add up to the logarithm of the odds. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# What names the asked thing outright or names another one, and no question set in SQuAD's format has: added to the
# logarithm of the odds. Questions by rule about documents have some of it: there it counts twice
# (benchmarks/history/2026-11-answers.md). Set by hand, so that entries of glossaries, rows of a code, cells with ○ or ×
# and items under a heading answer, and rows about something else don't (tests/knowledge/answering).
BY_NAME = {
    "code": 1.2,
    "explains": 1.8,
    "under named heading": 0.8,
    "says yes or no": 4.0,
    "key beside": -3.0,
    "identifiers missing in row": -1.0,
    "money missing": -2.0,
    "unit missing": -1.5,
    "key of asked kind": 2.0,
}
# A sign of more than this (no passage has so many characters) or none at all, NaN, is no sign.
_LARGEST_SIGN = 1e9
# exp of more has no digit that six places would show.
_MOST_ODDS = 50.0
FILE = Path(__file__).with_name("chances.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """Trees of one depth, level by level: node ``i`` has the children ``2i + 1`` and ``2i + 2``.

    ``signs`` and ``limits`` are (trees, inner nodes): which sign a node looks at, and above what the way goes right;
    a sign that is NaN goes left. ``values`` are (trees, leaves).
    """

    names: tuple[str, ...]
    base: float
    signs: NDArray[np.int64]
    limits: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def depth(self) -> int:
        return int(self.values.shape[1]).bit_length() - 1

    def odds(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithm of the odds of each row."""
        each = np.arange(len(self.signs))
        place = np.zeros((len(rows), len(each)), np.int64)
        for _level in range(self.depth):
            value = np.take_along_axis(rows, self.signs[each, place], axis=1)
            place = 2 * place + 1 + (value > self.limits[each, place])
        total: NDArray[np.float64] = self.base + self.values[each, place - self.signs.shape[1]].sum(axis=1)
        return total

    def as_dict(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "base": round(self.base, 5),
            "signs": self.signs.tolist(),
            "limits": [[round(one, 5) for one in row] for row in self.limits.tolist()],
            "values": [[round(one, 5) for one in row] for row in self.values.tolist()],
        }


def trees_from(written: Mapping[str, Any]) -> Trees:
    return Trees(
        names=tuple(written["names"]),
        base=float(written["base"]),
        signs=np.array(written["signs"], np.int64),
        limits=np.array(written["limits"], np.float64),
        values=np.array(written["values"], np.float64),
    )


def chances(names: Sequence[str], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each row's chance, 0 to 1, with six digits; ``names`` are those of its columns, the trees' among them.

    What is not finite, or larger than any sign, is no sign.

    :raises ValueError: the trees were fitted on other signs.
    """
    trees = shipped_trees()
    if not {*trees.names, *BY_NAME} <= set(names):
        raise ValueError("the signs are not those that chances.json was fitted on: python -m benchmarks.answers --fit")
    if not len(rows):
        return np.empty(0)
    rows = np.where(np.abs(rows) <= _LARGEST_SIGN, rows, np.nan)
    fitted = rows[:, [names.index(name) for name in trees.names]]
    named = np.nan_to_num(rows[:, [names.index(name) for name in BY_NAME]])
    odds = np.clip(trees.odds(fitted) + named @ np.array(list(BY_NAME.values())), -_MOST_ODDS, _MOST_ODDS)
    found: NDArray[np.float64] = np.round(1 / (1 + np.exp(-odds)), 6)
    return found


@lru_cache(maxsize=1)
def shipped_trees() -> Trees:
    return trees_from(json.loads(FILE.read_text(encoding="utf-8"))["trees"])
