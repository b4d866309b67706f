"""The lexical leg: BM25 over packed postings of words and bigrams, permissions asked of the best candidates.

The postings of a query's terms are summed here, which takes a few milliseconds for a hundred thousand passages.
Permissions and filters are then asked in SQL, best candidates first, until enough are permitted; when few passages are
permitted at all, those alone are ranked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from knowledge.models import EmbeddingSet, LexicalField
from knowledge.search import beside
from knowledge.search.bm25 import Scores, ScoresWith, all_scores, best_scores, scores_of
from knowledge.search.candidates import NO_CANDIDATES, Candidates, read_candidates
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalHits:
    """Candidates with their shares of the best possible BM25 score in each field, and ranks from 1, in columns.

    The rank is 0 beyond the limit. ``codes`` are the shares of the query's codes that they have. ``matched`` tells
    which have each of the terms ``told``: (terms, candidates).
    """

    candidates: Candidates
    words: NDArray[np.float64]
    bigrams: NDArray[np.float64]
    ranks: NDArray[np.int64]
    codes: NDArray[np.float64]
    told: tuple[str, ...]
    matched: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalSums:
    """What the postings of some terms say of the permitted chunks if they are few, or of all, whoever may see them.

    Of all chunks at least the best ``limit`` are scored.
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
    wait = beside.begin(work) if is_beside else work
    return LexicalSums(terms=terms, pieces=pieces, scores=lambda also: wait()(also), limit=limit)


def lexical_hits(
    sums: LexicalSums,
    permitted: PermittedChunks,
    embedding_set: EmbeddingSet,
    *,
    also: Candidates = NO_CANDIDATES,
    near: str | None = None,
    codes: Sequence[str] = (),
    tell_terms: bool = False,
) -> LexicalHits:
    """Take the permitted chunks that have any term: the best ones, and those of ``also`` wherever they rank.

    Those of ``also``, which must be permitted ones, come first and in their order, whether they have a term or not; of
    equals the smaller number in the index ranks first. Of the terms that a chunk has, ``codes`` are told, or all with
    ``tell_terms``. New candidates get their cosine to ``near``, a vector as `vector_literal`
    writes it. Up to two queries, and one more each time that too few of the best candidates were permitted.
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
    told = [term for term in sums.terms if tell_terms or term.text in codes]
    matched = _matched(told, sums.pieces, candidates.ordinals)
    return LexicalHits(
        candidates=candidates,
        words=np.minimum(1.0, words),
        bigrams=np.minimum(1.0, bigrams),
        ranks=ranks[shown],
        codes=_shares(codes, told, matched),
        told=tuple(term.text for term in told),
        matched=matched,
    )


def no_hits(candidates: Candidates) -> LexicalHits:
    """Tell of candidates that they have no term."""
    nothing = np.zeros(len(candidates))
    return LexicalHits(
        candidates=candidates,
        words=nothing,
        bigrams=nothing,
        ranks=nothing.astype(np.int64),
        codes=nothing,
        told=(),
        matched=np.zeros((0, nothing.size), bool),
    )


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


def ranked_numbers(
    terms: Sequence[FieldTerm], limit: int, *, among: NDArray[np.int32] | None = None
) -> NDArray[np.int64]:
    """Give the numbers in the index of the best ``limit`` chunks that have any term, or of some, whoever may see them.

    The best first; those of ``among`` that have no term come last. At most one query.
    """
    pieces = read_pieces([key for term in terms for key in term.pieces])
    if among is None:
        return _first(all_scores(terms, pieces), limit).ordinals
    scores = scores_of(terms, pieces, among)
    rest = np.setdiff1d(among, scores.ordinals) if scores.ordinals.size < limit else among[:0]
    return np.append(_first(scores, limit).ordinals, rest)[:limit]


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
    near: str | None
    known: Candidates

    def new(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Leave out the numbers that are known."""
        return ordinals[~np.isin(ordinals, self.known.ordinals)]

    def permitted(self, ordinals: NDArray[np.int64]) -> Candidates:
        """Give the permitted ones of some numbers. At most one query."""
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
    """Give the places of the ``size`` largest values, of equals the first ones, without sorting all."""
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
    """Give the place from 1 of each number among the ranked ones, 0 where it is not there."""
    if not ranked.size:
        return np.zeros(ordinals.size, np.int64)
    order = np.argsort(ranked)
    places = order[np.minimum(np.searchsorted(ranked, ordinals, sorter=order), ranked.size - 1)]
    return np.where(ranked[places] == ordinals, places + 1, 0)


def _matched(
    terms: Sequence[FieldTerm], pieces: Mapping[PieceKey, Piece], ordinals: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell which of the numbers have each term: (terms, numbers)."""
    matched = np.zeros((len(terms), ordinals.size), bool)
    for row, term in zip(matched, terms, strict=True):
        for key in pieces.keys() & term.pieces:
            row |= _occurring(ordinals.astype(np.int32), pieces[key].ordinals)
    return matched


def _shares(codes: Sequence[str], told: Sequence[FieldTerm], matched: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Give the share of the codes that each candidate has, in either field."""
    number = np.zeros(matched.shape[1])
    for code in codes:
        number += matched[[term.text == code for term in told]].any(axis=0)
    return number / max(len(codes), 1)
