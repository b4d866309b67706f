"""Turn fused values into scores from 0 to 1 that mean the same for every query.

``calibrations.json`` holds what ``benchmarks/search.py fit`` measured, for each embedding model and mode: 0.7 is set
where as many gold passages lie above as strangers' best passages (questions asked of a corpus on other subjects)
lie below. The logistic line grows with the fused value, so scores never contradict the ranking.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.search.fusion import CosineRange
from knowledge.types.search import SearchMode

GOOD_EVIDENCE = 0.7
DATA_FILE = Path(__file__).with_name("calibrations.json")
# For models nobody measured: the sum itself is the score, with cosines as they are.
NEUTRAL_RANGE = CosineRange(low=0.0, high=1.0)


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

    def scores(self, values: NDArray[np.float64], mode: SearchMode) -> NDArray[np.float64]:
        """Give the calibrated scores, or for an unmeasured mode the fused values cut to 0…1."""
        line = self.lines.get(mode)
        return line.scores(values) if line else np.clip(values, 0.0, 1.0)


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
