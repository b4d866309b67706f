"""The lexical leg: BM25 over packed postings of words and bigrams, permissions asked of the best candidates.

The postings of a query's terms are summed here, which takes a few milliseconds for a hundred thousand passages.
Permissions and filters are then asked in SQL, best candidates first, until enough are permitted; when few passages are
permitted at all, those alone are ranked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from knowledge.models import EmbeddingSet, LexicalField
from knowledge.search.bm25 import Scores, all_scores, best_scores
from knowledge.search.candidates import Candidate, read_candidates
from knowledge.search.postings import Piece, PieceKey, read_pieces
from knowledge.search.scope import PermittedChunks
from knowledge.search.weighing import FieldTerm, KnownTerm, known_terms

# So many times more candidates are asked about when too few of the first ones were permitted.
NEXT_BATCH = 4
# Of a phrase's terms, so many narrow down where it may stand; of each three one may be divided by the end of a line,
# but no more than two.
MOST_NARROWING = 6
TERMS_PER_BREAK = 3
MOST_BREAKS = 2


class LexicalHit(NamedTuple):
    """A candidate's share of the best possible BM25 score in each field, and its rank from 1 (None beyond the limit).

    ``codes`` is the share of the query's codes that the chunk has, ``matched`` the terms that it has.
    """

    candidate: Candidate
    words: float
    bigrams: float
    rank: int | None
    codes: float = 0.0
    matched: tuple[str, ...] = ()

    @property
    def chunk_id(self) -> int:
        """The chunk's key."""
        return self.candidate.chunk_id


_ALL_PERMITTED = "SELECT e.ordinal FROM knowledge_lexicalentry e WHERE e.chunk_id IN ({permitted})"
_Known = dict[int, Candidate]  # by number in the index


def lexical_hits(
    terms: Sequence[FieldTerm],
    permitted: PermittedChunks,
    embedding_set: EmbeddingSet,
    *,
    limit: int,
    also: Sequence[Candidate] = (),
    near: NDArray[np.float32] | None = None,
    codes: Sequence[str] = (),
    tell_terms: bool = False,
) -> list[LexicalHit]:
    """Score the permitted chunks that have any term: the best ``limit``, and those of ``also`` wherever they rank.

    In order of rank, equals by their number in the index. Chunks of ``also``, which must be permitted ones, are missing
    when they have none of the terms. Of the terms that a chunk has, ``codes`` are told, or all with ``tell_terms``.
    New candidates get their cosine to ``near``. Up to three queries, and one more each time that too few of the best
    candidates were permitted.
    """
    if not terms or permitted.is_empty:
        return []
    pieces = read_pieces([key for term in terms for key in term.pieces])
    known = {one.ordinal: one for one in also if one.ordinal is not None}
    ask = _Asker(permitted_chunks=permitted, embedding_set=embedding_set, near=near, known=known)
    if permitted.is_small:
        scores = all_scores(terms, pieces)
        best = ask.permitted(_first(scores.keep(ask.all_numbers()), limit).ordinals)
    else:
        scores = best_scores(terms, pieces, limit, also=list(known))
        best = _best_permitted(scores, ask, limit)
        if len(best) < limit and not scores.is_complete:
            scores = all_scores(terms, pieces)
            best = _best_permitted(scores, ask, limit)
    ranked = _first(scores.keep(np.array(list(best), np.int64)), limit).ordinals.tolist()
    candidates = known | {ordinal: best[ordinal] for ordinal in ranked}
    wanted = scores.keep(np.array(list(candidates), np.int64))
    told = [term for term in terms if tell_terms or term.text in codes]
    ranks = {ordinal: rank for rank, ordinal in enumerate(ranked, 1)}
    return _hits(wanted, candidates, ranks, _matched(told, pieces, wanted.ordinals), codes)


def numbers_with_most(groups: Sequence[Sequence[str]], embedding_set: EmbeddingSet) -> NDArray[np.int32]:
    """Find the numbers in the index of the chunks that have, of each group, nearly all terms of the field bigrams.

    In ascending order. Each group is a phrase's: where a line is broken inside of it, the index lacks the term that the
    break divides. Up to two queries.
    """
    name = LexicalField.BIGRAM.value
    fields = {name: {term: 1.0 for group in groups for term in group}}
    known = {term.text: term for term in known_terms(fields, embedding_set.policy_id)[name].terms}
    asked = [sorted((known[text] for text in group if text in known), key=_rarity)[:MOST_NARROWING] for group in groups]
    least = [_least(group, known) for group in groups]
    if not all(number > 0 for number in least):
        return np.zeros(0, np.int32)
    pieces = read_pieces([key for terms in asked for term in terms for key in term.pieces])
    found = [_having(terms, pieces, number) for terms, number in zip(asked, least, strict=True)]
    return reduce(np.intersect1d, found)


def numbers_with_half(texts: Sequence[str], embedding_set: EmbeddingSet) -> NDArray[np.int32]:
    """Find the numbers in the index of the chunks that have as many terms of a phrase as the better half of it has.

    In ascending order. The phrase is divided between two chunks: its terms are in one or the other, but for the one
    that the border divides. Up to two queries.
    """
    name = LexicalField.BIGRAM.value
    known = known_terms({name: dict.fromkeys(texts, 1.0)}, embedding_set.policy_id)[name].terms
    asked = sorted(known, key=_rarity)[:MOST_NARROWING]
    least = (len(asked) - 1) // 2
    # Besides the border, ends of lines divide terms.
    nowhere, divided = len(texts) - len(known), 1 + min(len(texts) // TERMS_PER_BREAK, MOST_BREAKS)
    if least < 1 or nowhere > divided:
        return np.zeros(0, np.int32)
    return _having(asked, read_pieces([key for term in asked for key in term.pieces]), least)


def ranked_numbers(terms: Sequence[FieldTerm], *, among: NDArray[np.int32] | None = None) -> NDArray[np.int64]:
    """Give the numbers in the index of all chunks that have any term, or of some of them, whoever may see them.

    The best first; those of ``among`` that have no term come last. At most one query.
    """
    scores = all_scores(terms, read_pieces([key for term in terms for key in term.pieces]))
    if among is not None:
        scores = scores.keep(among.astype(np.int64))
        rest = np.setdiff1d(among, scores.ordinals)
        return np.append(_first(scores, among.size).ordinals, rest)
    return scores.ordinals[np.argsort(-scores.total, kind="stable")]


def _rarity(term: KnownTerm) -> tuple[int, str]:
    return term.chunks, term.text


def _least(group: Sequence[str], known: Collection[str]) -> int:
    """How many of the asked terms a passage has in which the phrase occurs; 0 or less when none can have it."""
    divided = min(len(group) // TERMS_PER_BREAK, MOST_BREAKS)
    nowhere = sum(text not in known for text in group)
    return min(len(group) - nowhere, MOST_NARROWING) - (divided - nowhere) if nowhere <= divided else 0


def _having(terms: Sequence[KnownTerm], pieces: Mapping[PieceKey, Piece], least: int) -> NDArray[np.int32]:
    """Give the numbers that at least so many of the terms have, in ascending order; the rarest terms come first.

    What lacks no more than the others has one of the first ones, so only these are looked up in the long lists. A
    chunk's postings are all in one segment.
    """
    columns = [{key.segment_id: pieces[key].ordinals for key in term.pieces if key in pieces} for term in terms]
    firsts = columns[: len(terms) - least + 1]
    found = [np.zeros(0, np.int32)]
    for segment_id in dict.fromkeys(segment_id for column in firsts for segment_id in column):
        numbers = np.unique(np.concatenate([column[segment_id] for column in firsts if segment_id in column]))
        counts = np.zeros(numbers.size, int)
        for column in columns:
            if segment_id in column:
                counts += _occurring(numbers, column[segment_id])
        found.append(numbers[counts >= least])
    return np.sort(np.concatenate(found))


def _occurring(few: NDArray[np.int32], many: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell which of some numbers occur in others, which ascend and are one at least."""
    places = np.minimum(np.searchsorted(many, few), many.size - 1)
    occurring: NDArray[np.bool_] = many[places] == few
    return occurring


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asker:
    """Asks PostgreSQL which numbers stand for permitted chunks; those that are known are not asked again."""

    permitted_chunks: PermittedChunks
    embedding_set: EmbeddingSet
    near: NDArray[np.float32] | None
    known: _Known

    def permitted(self, ordinals: NDArray[np.int64]) -> _Known:
        """Give the permitted ones of some numbers. At most one query."""
        asked = ordinals.tolist()
        new = [ordinal for ordinal in asked if ordinal not in self.known]
        read = read_candidates(new, self.permitted_chunks, self.embedding_set, near=self.near)
        return {ordinal: self.known[ordinal] for ordinal in asked if ordinal in self.known} | read

    def all_numbers(self) -> NDArray[np.int64]:
        """Give the numbers of all permitted chunks. One query."""
        with connection.cursor() as cursor:
            cursor.execute(_ALL_PERMITTED.format(permitted=self.permitted_chunks.sql), self.permitted_chunks.params)
            return np.array([row[0] for row in cursor.fetchall()], np.int64)


def _best_permitted(scores: Scores, ask: _Asker, limit: int) -> _Known:
    """Ask which of the best are permitted, more and more of them, until ``limit`` are found or nothing is left."""
    found: _Known = {}
    for ordinals in _batches(scores, limit):
        found |= ask.permitted(ordinals)
        if len(found) >= limit or not scores.is_complete:
            break
    return found


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
    """Give the places of the ``size`` largest values, of equals the first ones, without sorting all."""
    if size >= len(total):
        return np.arange(len(total))
    least = np.partition(total, len(total) - size)[len(total) - size]
    above, equal = np.flatnonzero(total > least), np.flatnonzero(total == least)
    return np.concatenate([above, equal[: size - len(above)]])


def _first(scores: Scores, limit: int) -> Scores:
    """Keep the best ones, in their order; of equals the smaller number comes first."""
    return scores.at(np.argsort(-scores.total, kind="stable")[:limit])


def _matched(
    terms: Sequence[FieldTerm], pieces: Mapping[PieceKey, Piece], ordinals: NDArray[np.int64]
) -> list[tuple[str, ...]]:
    """Give for each of the numbers the terms that the chunk has, each once."""
    matched: list[dict[str, None]] = [{} for _ in ordinals]
    for term in terms:
        for key in pieces.keys() & term.pieces:
            for place in np.flatnonzero(np.isin(ordinals, pieces[key].ordinals)).tolist():
                matched[place][term.text] = None
    return [tuple(texts) for texts in matched]


def _hits(
    wanted: Scores,
    candidates: _Known,
    ranks: Mapping[int, int],
    matched: Sequence[tuple[str, ...]],
    codes: Sequence[str],
) -> list[LexicalHit]:
    columns = zip(wanted.ordinals.tolist(), wanted.words.tolist(), wanted.bigrams.tolist(), matched, strict=True)
    hits = [
        LexicalHit(
            candidate=candidates[ordinal],
            words=min(1.0, words),
            bigrams=min(1.0, bigrams),
            rank=ranks.get(ordinal),
            codes=sum(code in own for code in codes) / len(codes) if codes else 0.0,
            matched=own,
        )
        for ordinal, words, bigrams, own in columns
    ]
    last = len(hits) + 1
    return sorted(hits, key=lambda hit: (hit.rank or last, -hit.words - hit.bigrams, hit.chunk_id))
