"""Make one ranking of what the legs found. Pure: no database, no framework.

Every term of the sum is normalised for the query: a BM25 score is a share of the best one the query could get, a
cosine a place in the range where the model's cosines lie. Unlike z-scores and min–max over the candidates, these do
not depend on what else was found, so sums of two queries can be compared, and one calibration serves all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.index.stop_words import is_english
from knowledge.search.column_store import Columnar
from knowledge.types.search import SearchMode


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
# At one half, a passage with the only code that was asked for never stands below one without it.
CODES_WEIGHT = 0.5
# A list of headings names what stands elsewhere, and has words of many sections: what it names comes before it as soon
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
        """The lexical leg's own scores, 0 to 1."""
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
class Fused:
    """The ranking: places of candidates in their evidence, the best first, and the convex sums that rank them."""

    places: NDArray[np.int64]
    values: NDArray[np.float64]


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
) -> Fused:
    """Rank candidates, the best first; of equals the smaller chunk id comes first.

    In the modes vector and lexical the other leg's evidence does not count, nor do ``weights``. Where a query names
    a code, passages that have it come before all others, unless none has it. Lists of headings count
    ``CONTENTS_SHARE``, unless the query asks for them.
    """
    values = _values(evidence, mode, cosine_range, weights)
    if not wants_contents:
        values = np.where(evidence.are_contents, CONTENTS_SHARE * values, values)
    if evidence.codes.any():
        values = _with_codes(values, evidence.codes)
    places = np.lexsort((evidence.chunk_ids, -values))
    return Fused(places=places, values=values[places])


def _with_codes(values: NDArray[np.float64], codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let codes decide, and what else was found among those that have as many of them."""
    return CODES_WEIGHT * codes + (1 - CODES_WEIGHT) * np.clip(values, 0.0, 1.0)


def _values(evidence: Evidence, mode: SearchMode, cosine_range: CosineRange, weights: Weights) -> NDArray[np.float64]:
    if mode is SearchMode.LEXICAL:
        return evidence.lexical
    cosine = cosine_range.place(evidence.cosines)
    if mode is SearchMode.VECTOR:
        return cosine
    return weights.cosine * cosine + weights.words * evidence.words + weights.bigrams * evidence.bigrams
