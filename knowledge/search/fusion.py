"""Make one ranking of what the legs found. Pure: no database, no framework.

Every term of the sum is normalised for the query: a BM25 score is a share of the best one the query could get, a
cosine a place in the range where the model's cosines lie. Unlike z-scores and min–max over the candidates, these do
not depend on what else was found, so sums of two queries can be compared, and one calibration serves all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from knowledge.types import SearchMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each kind of evidence counts in the mode hybrid; together 1."""

    words: float
    bigrams: float
    cosine: float


# Measured on two Japanese question sets; nDCG@10 is flat from a third to two thirds of lexical weight.
WEIGHTS = Weights(words=0.25, bigrams=0.25, cosine=0.5)
# At one half, a passage with the only code that was asked for never stands below one without it.
CODES_WEIGHT = 0.5
# A list of headings names what stands elsewhere, and has words of many sections: what it names comes before it as soon
# as that is half as near.
CONTENTS_SHARE = 0.5


class Evidence(NamedTuple):
    """What both legs say about one candidate: ``words`` and ``bigrams`` from 0 to 1, None cosine without a vector.

    ``codes`` is the share of the query's codes (FR-001) that the candidate has, ``matched`` the terms it has;
    ``is_contents`` when it lists headings.
    """

    chunk_id: int
    cosine: float | None = None
    words: float = 0.0
    bigrams: float = 0.0
    codes: float = 0.0
    matched: tuple[str, ...] = ()
    is_contents: bool = False

    @property
    def lexical(self) -> float:
        """The lexical leg's own score, 0 to 1."""
        return (WEIGHTS.words * self.words + WEIGHTS.bigrams * self.bigrams) / (WEIGHTS.words + WEIGHTS.bigrams)


@dataclass(frozen=True, slots=True, kw_only=True)
class CosineRange:
    """Where a model's cosines lie: ``low`` for texts that have nothing in common, ``high`` for the same text."""

    low: float
    high: float

    def place(self, cosine: float | None) -> float:
        """Map ``low`` to 0 and ``high`` to 1, without cutting off; a missing cosine counts as ``low``."""
        return 0.0 if cosine is None else (cosine - self.low) / (self.high - self.low)


class Fused(NamedTuple):
    """A candidate with the convex sum that ranks it."""

    evidence: Evidence
    value: float


def fuse(
    candidates: Iterable[Evidence],
    *,
    mode: SearchMode,
    cosine_range: CosineRange,
    weights: Weights = WEIGHTS,
    wants_contents: bool = False,
) -> list[Fused]:
    """Rank candidates, the best first; of equals the smaller chunk id comes first.

    In the modes vector and lexical the other leg's evidence does not count, nor do ``weights``. Where a query names
    a code, passages that have it come before all others, unless none has it. Lists of headings count
    ``CONTENTS_SHARE``, unless the query asks for them.
    """
    fused = [Fused(evidence=one, value=_value(one, mode, cosine_range, weights)) for one in candidates]
    if not wants_contents:
        fused = [one._replace(value=CONTENTS_SHARE * one.value) if one.evidence.is_contents else one for one in fused]
    if any(one.evidence.codes for one in fused):
        fused = [one._replace(value=_with_codes(one)) for one in fused]
    return sorted(fused, key=lambda one: (-one.value, one.evidence.chunk_id))


def _with_codes(one: Fused) -> float:
    """Let codes decide, and what else was found among those that have as many of them."""
    rest = min(1.0, max(0.0, one.value))
    return CODES_WEIGHT * one.evidence.codes + (1 - CODES_WEIGHT) * rest


def _value(evidence: Evidence, mode: SearchMode, cosine_range: CosineRange, weights: Weights) -> float:
    if mode is SearchMode.LEXICAL:
        return evidence.lexical
    cosine = cosine_range.place(evidence.cosine)
    if mode is SearchMode.VECTOR:
        return cosine
    return weights.cosine * cosine + weights.words * evidence.words + weights.bigrams * evidence.bigrams
