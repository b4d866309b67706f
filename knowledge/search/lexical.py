"""The lexical leg: BM25 over packed postings of words and bigrams, permissions asked of the best candidates.

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
from knowledge.search.bm25 import Scores, ScoresWith, all_scores, best_scores, scores_of
from knowledge.search.candidates import NO_CANDIDATES, Candidates, read_candidates
from knowledge.search.postings import Piece, PieceKey, read_pieces
from knowledge.search.scope import PermittedChunks
from knowledge.search.weighing import FieldTerm, visible_pieces

# So many times more candidates are asked about when too few of the first ones were permitted.
NEXT_BATCH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalHits:
    """Candidates with their shares of the best possible BM25 score in each field, and ranks from 1, in columns.

    The rank is 0 beyond the limit. ``codes`` are the shares of the query's codes that they have. ``matched`` says which
    have each of the ``terms``: (terms, candidates).
    """

    candidates: Candidates
    words: NDArray[np.float64]
    bigrams: NDArray[np.float64]
    ranks: NDArray[np.int64]
    codes: NDArray[np.float64]
    terms: tuple[str, ...]
    matched: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalSums:
    """Scores of chunks for some terms: of the permitted ones where they are few, else of all.

    In the second case no permission filter is applied: the caller of ``scores`` must apply it. At least the best
    ``limit`` of all chunks are scored then.
    """

    terms: Sequence[FieldTerm]
    pieces: Mapping[PieceKey, Piece]
    scores: ScoresWith
    limit: int


def sum_postings(
    terms: Sequence[FieldTerm], permitted: PermittedChunks, *, limit: int, is_beside: bool = False
) -> LexicalSums:
    """Read the postings of some terms and sum them, to find the best ``limit`` permitted chunks. Up to two queries.

    With ``is_beside`` the sums of a large index run in another thread, and `lexical_hits` waits for them.
    """
    pieces = read_pieces([key for term in terms for key in term.pieces])
    if not terms or permitted.is_small:
        of_permitted = scores_of(terms, pieces, permitted.numbers if terms else np.zeros(0, np.int64))
        return LexicalSums(terms=terms, pieces=pieces, scores=lambda _also: of_permitted, limit=limit)
    work = partial(best_scores, terms, pieces, limit)
    wait = background.begin(work) if is_beside else work
    return LexicalSums(terms=terms, pieces=pieces, scores=lambda also: wait()(also), limit=limit)


def lexical_hits(
    sums: LexicalSums,
    permitted: PermittedChunks,
    embedding_set: EmbeddingSet,
    *,
    also: Candidates = NO_CANDIDATES,
    near: str | None = None,
    codes: Sequence[str] = (),
    with_terms: bool = False,
) -> LexicalHits:
    """Take the permitted chunks that have any term: the best ones, and those of ``also`` wherever they rank.

    Those of ``also``, which must be permitted ones, come first and in their order, whether they have a term or not; of
    equals the smaller number in the index ranks first. ``matched`` has the ``codes``, or all terms ``with_terms``. New
    candidates get their cosine to ``near``, a vector as `vector_literal` writes it. Up to two queries, and one more
    each time that too few of the best candidates were permitted.
    """
    if not sums.terms or permitted.is_empty:
        return no_hits(also)
    ask = _Asker(permitted_chunks=permitted, embedding_set=embedding_set, near=near, known=also)
    scores, found = _best(sums, ask)
    everyone = also.followed_by(found)
    ranks = _ranks(_first(scores.keep(everyone.ordinals), sums.limit).ordinals, everyone.ordinals)
    shown = np.flatnonzero((ranks > 0) | (np.arange(ranks.size) < len(also)))
    candidates = everyone.at(shown)
    words, bigrams = scores.of(candidates.ordinals)
    looked_up = [term for term in sums.terms if with_terms or term.text in codes]
    matched = _matched(looked_up, sums.pieces, candidates.ordinals)
    return LexicalHits(
        candidates=candidates,
        words=np.minimum(1.0, words),
        bigrams=np.minimum(1.0, bigrams),
        ranks=ranks[shown],
        codes=_shares(codes, looked_up, matched),
        terms=tuple(term.text for term in looked_up),
        matched=matched,
    )


def no_hits(candidates: Candidates) -> LexicalHits:
    """Return candidates without any term."""
    nothing = np.zeros(len(candidates))
    return LexicalHits(
        candidates=candidates,
        words=nothing,
        bigrams=nothing,
        ranks=nothing.astype(np.int64),
        codes=nothing,
        terms=(),
        matched=np.zeros((0, nothing.size), bool),
    )


def occurring(few: NDArray[np.int32], many: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which of some numbers occur in others, which ascend and are one at least."""
    places = np.minimum(np.searchsorted(many, few), many.size - 1)
    are_there: NDArray[np.bool_] = many[places] == few
    return are_there


def ranked_numbers(
    terms: Sequence[FieldTerm], limit: int, *, among: NDArray[np.int32] | None = None
) -> NDArray[np.int64]:
    """Return the numbers in the index of the best ``limit`` visible chunks that have any term, or of some.

    The best first; those of ``among`` that have no term come last. At most one query.
    """
    pieces = visible_pieces(terms)
    if among is None:
        return _first(all_scores(terms, pieces), limit).ordinals
    scores = scores_of(terms, pieces, among)
    rest = np.setdiff1d(among, scores.ordinals) if scores.ordinals.size < limit else among[:0]
    return np.append(_first(scores, limit).ordinals, rest)[:limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asker:
    """Asks PostgreSQL which numbers stand for permitted chunks; those that are known are not asked again."""

    permitted_chunks: PermittedChunks
    embedding_set: EmbeddingSet
    near: str | None
    known: Candidates

    def new(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        return ordinals[~np.isin(ordinals, self.known.ordinals)]

    def permitted(self, ordinals: NDArray[np.int64]) -> Candidates:
        return read_candidates(ordinals, self.permitted_chunks, self.embedding_set, near=self.near)


def _best(sums: LexicalSums, ask: _Asker) -> tuple[Scores, Candidates]:
    """Score the chunks, and read those of the best permitted ones that are not known."""
    scores = sums.scores(ask.known.ordinals)
    if ask.permitted_chunks.is_small:
        return scores, ask.permitted(ask.new(_first(scores, sums.limit).ordinals))
    found, count = _best_permitted(scores, ask, sums.limit)
    if count < sums.limit and not scores.is_complete:
        scores = all_scores(sums.terms, sums.pieces)
        found, _count = _best_permitted(scores, ask, sums.limit)
    return scores, found


def _best_permitted(scores: Scores, ask: _Asker, limit: int) -> tuple[Candidates, int]:
    """Ask which of the best are permitted, more and more of them, until ``limit`` are found or nothing is left.

    Gives those that were not known, and how many there are with the known ones.
    """
    found, count = NO_CANDIDATES, 0
    for ordinals in _batches(scores, limit):
        new = ask.new(ordinals)
        permitted = ask.permitted(new)
        found = found.followed_by(permitted)
        count += ordinals.size - new.size + len(permitted)
        if count >= limit or not scores.is_complete:
            break
    return found, count


def _batches(scores: Scores, limit: int) -> Iterator[NDArray[np.int64]]:
    """Cut the chunks into batches that grow, the best first; of equals the smaller number comes first."""
    first = _top(scores.total, limit)
    yield scores.ordinals[first]
    order = np.argsort(-scores.total, kind="stable") if scores.ordinals.size > first.size else first
    start, size = first.size, limit
    while start < order.size:
        size *= NEXT_BATCH
        yield scores.ordinals[order[start : start + size]]
        start += size


def _top(total: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return the places of the ``size`` largest values, of equals the first ones, without sorting all."""
    if size >= len(total):
        return np.arange(len(total))
    least = np.partition(total, len(total) - size)[len(total) - size]
    above, equal = np.flatnonzero(total > least), np.flatnonzero(total == least)
    return np.concatenate([above, equal[: size - len(above)]])


def _first(scores: Scores, limit: int) -> Scores:
    """Keep the best ones, in their order; of equals the smaller number comes first."""
    total = scores.total
    top = np.sort(_top(total, limit))
    return scores.at(top[np.argsort(-total[top], kind="stable")])


def _ranks(ranked: NDArray[np.int64], ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place from 1 of each number among the ranked ones, 0 where it is not there."""
    if not ranked.size:
        return np.zeros(ordinals.size, np.int64)
    order = np.argsort(ranked)
    places = order[np.minimum(np.searchsorted(ranked, ordinals, sorter=order), ranked.size - 1)]
    return np.where(ranked[places] == ordinals, places + 1, 0)


def _matched(
    terms: Sequence[FieldTerm], pieces: Mapping[PieceKey, Piece], ordinals: NDArray[np.int64]
) -> NDArray[np.bool_]:
    matched = np.zeros((len(terms), ordinals.size), bool)
    for row, term in zip(matched, terms, strict=True):
        for key in pieces.keys() & term.pieces:
            row |= occurring(ordinals.astype(np.int32), pieces[key].ordinals)
    return matched


def _shares(codes: Sequence[str], terms: Sequence[FieldTerm], matched: NDArray[np.bool_]) -> NDArray[np.float64]:
    number = np.zeros(matched.shape[1])
    for code in codes:
        number += matched[[term.text == code for term in terms]].any(axis=0)
    return number / max(len(codes), 1)
