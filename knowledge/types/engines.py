"""What is said to a search engine and what it answers: numbers, vectors and weights, never texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """What an engine filters passages by. Whether one may be shown PostgreSQL decides."""

    collection_id: int
    classification: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPassage:
    """A passage under its number in the lexical index; None and no terms where it has no vector, or no term."""

    number: int
    document_id: int
    tags: Tags
    vector: NDArray[np.float32] | None
    term_ids: NDArray[np.int64]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Where to look: the collections (None: all), up to a classification, among some numbers alone (None: all)."""

    collection_ids: tuple[int, ...] | None = None
    ceiling: int | None = None
    numbers: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedTerms:
    """Terms by their keys, and what each is worth: a passage's score is the sum of these times its own weights."""

    term_ids: NDArray[np.int64]
    weights: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Passages by number with their scores, the best first; of equals the smaller number comes first."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]

    def of(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each of some numbers, 0 of those that are not here."""
        if not self.numbers.size:
            return np.zeros(numbers.size)
        order = np.argsort(self.numbers)
        places = order[np.minimum(np.searchsorted(self.numbers, numbers, sorter=order), self.numbers.size - 1)]
        return np.where(self.numbers[places] == numbers, self.scores[places], 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a collection of an engine is made: shards can't be added later, and each is there ``copies`` times."""

    dimension: int
    shards: int
    copies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineHealth:
    """What an engine says of a collection: ``status`` is its own word (green, yellow, red, grey).

    ``thin_shards`` are those of which fewer copies answer than the collection wants.
    """

    status: str
    passages: int
    thin_shards: int
