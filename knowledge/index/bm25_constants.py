"""BM25's constants of the two lexical fields, for all who weigh: at search, or when an engine is told a passage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from knowledge.models import LexicalField


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25:
    """BM25's two constants. Low k1 suits passages: a word said once is nearly as good as twice."""

    k1: float
    b: float


# Best of a grid on two Japanese question sets.
CONSTANTS: Mapping[int, Bm25] = {LexicalField.WORD: Bm25(k1=0.4, b=0.6), LexicalField.BIGRAM: Bm25(k1=0.8, b=0.75)}
