"""Turn fused values into scores from 0 to 1 that mean the same for every query.

``calibrations.json`` holds what ``benchmarks/search.py fit`` measured, for each embedding model and mode: 0.7 is set
where as many gold passages lie above as strangers' best passages (questions asked of a corpus on other subjects)
lie below. The logistic line grows with the fused value, so scores never contradict the ranking.

In a small set all values are smaller: a word is hardly rarer than another where there are few passages to have them,
so a passage that lacks the common words of a question loses more, and the best of fewer strangers is further off. So
0.7 lies lower there (``EASING``).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.search.fusion import CosineRange
from knowledge.types.search import SearchMode

GOOD_EVIDENCE = 0.7
DATA_FILE = Path(__file__).with_name("calibrations.json")
# For models nobody measured: the sum itself is the score, with cosines as they are.
NEUTRAL_RANGE = CosineRange(low=0.0, high=1.0)
# The lines were fitted on sets of more passages than this.
FITTED_PASSAGES = 1000
# The smallest sets that were measured; still smaller ones count as these.
LEAST_PASSAGES = 24
# How much lower 0.7 lies for every time that a set is smaller by the factor e. Measured on parts of the two Japanese
# question sets: steps small enough to keep strangers out, at which nine tenths of the answers reach 0.7 in each.
EASING = MappingProxyType({SearchMode.LEXICAL: 0.03, SearchMode.HYBRID: 0.0125})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticLine:
    """``1 / (1 + exp(-(intercept + slope * value)))``."""

    intercept: float
    slope: float

    def scores(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map fused values to scores between 0 and 1."""
        return 0.5 * (1.0 + np.tanh(0.5 * (self.intercept + self.slope * values)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The cosine range and the lines of one embedding model; a mode without a line was not measured."""

    cosine_range: CosineRange
    lines: dict[SearchMode, LogisticLine]

    def is_known(self, mode: SearchMode) -> bool:
        """Tell whether scores of this mode were measured."""
        return mode in self.lines

    def scores(
        self, values: NDArray[np.float64], mode: SearchMode, *, passages: int = FITTED_PASSAGES
    ) -> NDArray[np.float64]:
        """Give the calibrated scores in a set of so many passages, or for an unmeasured mode the fused values cut to
        0…1.
        """
        line = self.lines.get(mode)
        return line.scores(values + easing(mode, passages)) if line else np.clip(values, 0.0, 1.0)


def easing(mode: SearchMode, passages: int) -> float:
    """Tell how much lower than in a large set 0.7 lies in one of so many passages, in fused values; 0 without any."""
    if not 0 < passages < FITTED_PASSAGES:
        return 0.0
    return EASING.get(mode, 0.0) * math.log(FITTED_PASSAGES / max(passages, LEAST_PASSAGES))


def calibration_for(*, backend: str, model: str) -> Calibration:
    """Find what was measured for a model; an unknown one gets the neutral mapping and the lexical line only.

    Lexical scores do not depend on the model.
    """
    data = _data()
    lines = {SearchMode.LEXICAL: _line(data["lexical"])}
    for entry in data["models"]:
        if (entry["backend"], entry["model"]) == (backend, model):
            lines |= {mode: _line(entry[mode.value]) for mode in (SearchMode.VECTOR, SearchMode.HYBRID)}
            low, high = entry["cosine_range"]
            return Calibration(cosine_range=CosineRange(low=low, high=high), lines=lines)
    return Calibration(cosine_range=NEUTRAL_RANGE, lines=lines)


def _line(entry: dict[str, Any]) -> LogisticLine:
    return LogisticLine(intercept=entry["intercept"], slope=entry["slope"])


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(DATA_FILE.read_text(encoding="utf-8"))
    return data
