"""The index in PostgreSQL: HNSW or exact comparison of vectors, BM25 over packed postings of words and bigrams.

The postings of a query's terms are summed here, which takes a few milliseconds for a hundred thousand passages.
Permissions and filters are then asked in SQL, best candidates first, until enough are permitted; when few passages are
permitted at all, those alone are ranked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from knowledge.models import EmbeddingSet
from knowledge.search import background
from knowledge.search.bm25 import Scores, ScoresWith, all_scores, best_scores, scores_of, top_places
from knowledge.search.candidates import NO_CANDIDATES, CandidateReader, Candidates, nearest_chunks
from knowledge.search.postings import Piece, PieceKey, occurring, read_pieces
from knowledge.search.scope import PermittedChunks
from knowledge.search.weighing import FieldTerm, visible_pieces
from knowledge.types.notices import Notice

# So many times more candidates are asked about when too few of the first ones were permitted.
NEXT_BATCH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedIndex:
    """`SearchIndex` over the tables of this database."""

    embedding_set: EmbeddingSet
    remarks: Sequence[Notice] = ()

    def nearest(self, vector: str, permitted: PermittedChunks, *, limit: int) -> Candidates:
        """See `SearchIndex`. Exact when few chunks are permitted. Up to four queries."""
        return nearest_chunks(self.embedding_set, vector, permitted, limit=limit)

    def sum_terms(
        self, terms: Sequence[FieldTerm], permitted: PermittedChunks, *, limit: int, is_beside: bool = False
    ) -> SummedPostings:
        """Read the postings of some terms and sum them. Up to two queries.

        With ``is_beside`` the sums of a large index run in another thread, and `SummedPostings.best` waits for them.
        """
        if not terms or permitted.is_small:
            pieces = read_pieces([key for term in terms for key in term.pieces])
            of_permitted = scores_of(terms, pieces, permitted.numbers if terms else np.zeros(0, np.int64))
            return SummedPostings(terms=terms, pieces=pieces, scores=lambda _also: of_permitted, limit=limit)
        # Among those that are hidden from the caller the best would be looked for in vain, and then in all once more.
        pieces = visible_pieces(terms)
        work = partial(best_scores, terms, pieces, limit)
        wait = background.begin(work) if is_beside else work
        return SummedPostings(terms=terms, pieces=pieces, scores=lambda also: wait()(also), limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummedPostings:
    """`TermSums`: scores of the permitted chunks where they are few, else of all that the caller may see.

    In the second case a filter is not applied to ``scores``: `best` applies it, and asks for permission. At least the
    best ``limit`` of all visible chunks are scored then.
    """

    terms: Sequence[FieldTerm]
    pieces: Mapping[PieceKey, Piece]
    scores: ScoresWith
    limit: int

    def best(self, reader: CandidateReader) -> tuple[Scores, Candidates]:
        """See `TermSums`. One query, and one more each time that too few of the best candidates were permitted."""
        scores = self.scores(reader.known.ordinals)
        if reader.permitted.is_small:
            return scores, reader.read(reader.new(scores.first(self.limit).ordinals))
        found, count = _best_permitted(scores, reader, self.limit)
        if count < self.limit and not scores.is_complete:
            scores = all_scores(self.terms, self.pieces)
            found, _count = _best_permitted(scores, reader, self.limit)
        return scores, found

    def matched(self, terms: Sequence[FieldTerm], ordinals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """See `TermSums`. No query."""
        matched = np.zeros((len(terms), ordinals.size), bool)
        for row, term in zip(matched, terms, strict=True):
            for key in self.pieces.keys() & term.pieces:
                row |= occurring(ordinals.astype(np.int32), self.pieces[key].ordinals)
        return matched


def _best_permitted(scores: Scores, reader: CandidateReader, limit: int) -> tuple[Candidates, int]:
    """Ask which of the best are permitted, more and more of them, until ``limit`` are found or nothing is left.

    Gives those that were not known, and how many there are with the known ones.
    """
    found, count = NO_CANDIDATES, 0
    for ordinals in _batches(scores, limit):
        new = reader.new(ordinals)
        permitted = reader.read(new)
        found = found.followed_by(permitted)
        count += ordinals.size - new.size + len(permitted)
        if count >= limit or not scores.is_complete:
            break
    return found, count


def _batches(scores: Scores, limit: int) -> Iterator[NDArray[np.int64]]:
    """Cut the chunks into batches that grow, the best first; of equals the smaller number comes first."""
    first = top_places(scores.total, limit)
    yield scores.ordinals[first]
    order = np.argsort(-scores.total, kind="stable") if scores.ordinals.size > first.size else first
    start, size = first.size, limit
    while start < order.size:
        size *= NEXT_BATCH
        yield scores.ordinals[order[start : start + size]]
        start += size
