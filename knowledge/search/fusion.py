"""Make one ranking of what the legs found, with scores from 0 to 1 that mean the same for every query. Pure.

Every term of the sum is normalised for the query: a BM25 score is a share of the best one the query could get, a
cosine a place in the range where the model's cosines lie. Unlike z-scores and min–max over the candidates, these do
not depend on what else was found, so sums of two queries can be compared, and one calibration serves all.

``calibrations.json`` holds what ``benchmarks/search.py fit`` measured, for each embedding model and mode: 0.7 is set
where as many gold passages lie above as strangers' best passages (questions asked of a corpus on other subjects)
lie below. The logistic line grows with the fused value, so scores never contradict the ranking. In a small set all
values are smaller (a word is hardly rarer than another, and the best of fewer strangers is further off), so 0.7 lies
lower there (``EASING``).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from knowledge.index.morphemes import is_english
from knowledge.types.search import SearchMode


class Columnar:
    """The base of frozen dataclasses with slots, all of whose fields are columns: one-dimensional arrays."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def at(self, which: NDArray[np.int64] | slice) -> Self:
        # The slots are the fields; dataclasses.fields would take longer than taking from the columns.
        return type(self)(**{name: getattr(self, name)[which] for name in self.__slots__})

    def followed_by(self, others: Self) -> Self:
        return type(self)(
            **{name: np.concatenate([getattr(self, name), getattr(others, name)]) for name in self.__slots__}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each kind of evidence counts in the mode hybrid; together 1."""

    words: float
    bigrams: float
    cosine: float


# Measured on two Japanese question sets, and as good on three others; nDCG@10 is flat from a third to two thirds of
# lexical weight.
WEIGHTS = Weights(words=0.25, bigrams=0.25, cosine=0.5)
# The bigrams of a question in English are its words, which would count twice. And among Japanese passages, one of these
# words in some sample of code says less than that another passage is nearer in meaning. With a cosine of .8 English
# manuals and articles are found less well, with .6 Japanese passages and what answers in other words.
ENGLISH_WEIGHTS = Weights(words=0.15, bigrams=0.15, cosine=0.7)
# At one half, a passage with the only code that was asked for never is below one without it.
CODES_WEIGHT = 0.5
# A list of headings names what is elsewhere, and has words of many sections: what it names comes before it as soon
# as that is half as near.
CONTENTS_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Columnar):
    """What both legs say about candidates, in columns: ``words`` and ``bigrams`` from 0 to 1, NaN without a cosine.

    ``codes`` are the shares of the query's codes (FR-001) that the candidates have, ``are_contents`` those that list
    headings.
    """

    chunk_ids: NDArray[np.int64]
    cosines: NDArray[np.float64]
    words: NDArray[np.float64]
    bigrams: NDArray[np.float64]
    codes: NDArray[np.float64]
    are_contents: NDArray[np.bool_]

    @property
    def lexical(self) -> NDArray[np.float64]:
        both: NDArray[np.float64] = WEIGHTS.words * self.words + WEIGHTS.bigrams * self.bigrams
        return both / (WEIGHTS.words + WEIGHTS.bigrams)


@dataclass(frozen=True, slots=True, kw_only=True)
class CosineRange:
    """Where a model's cosines lie: ``low`` for texts that have nothing in common, ``high`` for the same text."""

    low: float
    high: float

    def place(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map ``low`` to 0 and ``high`` to 1, without cutting off; a missing cosine counts as ``low``."""
        return np.where(np.isnan(cosines), 0.0, (cosines - self.low) / (self.high - self.low))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Columnar):
    """Places of candidates in their evidence, the best first, with their scores, in columns."""

    places: NDArray[np.int64]
    scores: NDArray[np.float64]


def weights_for(question: str) -> Weights:
    """Choose what each kind of evidence counts by the language that a question is put in."""
    return ENGLISH_WEIGHTS if is_english(question) else WEIGHTS


def fuse(
    evidence: Evidence,
    *,
    mode: SearchMode,
    cosine_range: CosineRange,
    weights: Weights = WEIGHTS,
    wants_contents: bool = False,
) -> Ranking:
    """Rank candidates by convex sums, which are not calibrated yet; of equals the smaller chunk id comes first.

    In the modes vector and lexical the other leg's evidence does not count, nor do ``weights``. Where a query names
    a code, passages that have it come before all others, unless none has it. Lists of headings count
    ``CONTENTS_SHARE``, unless the query asks for them.
    """
    values = _values(evidence, mode, cosine_range, weights)
    if not wants_contents:
        values = np.where(evidence.are_contents, CONTENTS_SHARE * values, values)
    if evidence.codes.any():
        # codes decide, and what else was found among those that have as many of them
        values = CODES_WEIGHT * evidence.codes + (1 - CODES_WEIGHT) * np.clip(values, 0.0, 1.0)
    places = np.lexsort((evidence.chunk_ids, -values))
    return Ranking(places=places, scores=values[places])


def _values(evidence: Evidence, mode: SearchMode, cosine_range: CosineRange, weights: Weights) -> NDArray[np.float64]:
    if mode is SearchMode.LEXICAL:
        return evidence.lexical
    cosine = cosine_range.place(evidence.cosines)
    if mode is SearchMode.VECTOR:
        return cosine
    return weights.cosine * cosine + weights.words * evidence.words + weights.bigrams * evidence.bigrams


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
        return 0.5 * (1.0 + np.tanh(0.5 * (self.intercept + self.slope * values)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The cosine range and the lines of one embedding model; a mode without a line was not measured."""

    cosine_range: CosineRange
    lines: dict[SearchMode, LogisticLine]

    def is_known(self, mode: SearchMode) -> bool:
        return mode in self.lines

    def scores(
        self, values: NDArray[np.float64], mode: SearchMode, *, passages: int = FITTED_PASSAGES
    ) -> NDArray[np.float64]:
        """Return the calibrated scores in a set of so many passages, or for an unmeasured mode the fused values cut to
        0…1.
        """
        line = self.lines.get(mode)
        return line.scores(values + easing(mode, passages)) if line else np.clip(values, 0.0, 1.0)


def easing(mode: SearchMode, passages: int) -> float:
    """Return how much lower than in a large set 0.7 lies in one of so many passages, in fused values; 0 without any."""
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
