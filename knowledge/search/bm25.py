"""Summing BM25 over decoded postings: of all chunks, or of the best ones alone where a bound shows that the rest can't
be among them.

Terms are summed from the rarest to the commonest. Once the best chunks are so far ahead that what the remaining, common
terms can bring would not let another one pass them, only those chunks are looked up in the long lists. Source of the
idea: MaxScore, Turtle & Flood 1995, doi:10.1016/0306-4573(95)00020-H. The scores are exact either way.

A passage may say 可用性, アベイラビリティ and 稼働率, and is still about one thing. So of all its names the one counts
that brings the most; only where that is not the asked one, the difference is added to the asked one's sum (`gains`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from knowledge.models import LexicalField
from knowledge.search.postings import Piece, PieceKey
from knowledge.search.weighing import FieldTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What chunks gain in one field, in columns: numbers in ascending order, and how much, above zero."""

    field: int
    ordinals: NDArray[np.int32]
    brought: NDArray[np.float64]


def gains(terms: Sequence[FieldTerm], pieces: Mapping[PieceKey, Piece]) -> list[Gain]:
    """Return what those terms bring that stand in for others, for each thing that the query asks by one name."""
    own = {(term.field, term.text): term for term in terms if term.synonym is None}
    by_name: dict[tuple[int, tuple[str, ...]], dict[str, list[FieldTerm]]] = {}
    for term in terms:
        if term.synonym:
            others = by_name.setdefault((term.field, term.synonym.instead_of), {})
            others.setdefault(term.synonym.name, []).append(term)
    return [
        _gain(field, [own[field, text] for text in name if (field, text) in own], others.values(), pieces)
        for (field, name), others in by_name.items()
    ]


def _gain(
    field: int, own: Sequence[FieldTerm], others: Iterable[Sequence[FieldTerm]], pieces: Mapping[PieceKey, Piece]
) -> Gain:
    having = [piece.ordinals for terms in others for term in terms for piece in _pieces(term, pieces)]
    ordinals = np.unique(np.concatenate([np.zeros(0, np.int32), *having]))
    most = np.zeros(ordinals.size)
    for terms in others:
        np.maximum(most, _brought(terms, ordinals, pieces), out=most)
    gained = most - _brought(own, ordinals, pieces)
    is_more = gained > 0
    return Gain(field=field, ordinals=ordinals[is_more], brought=gained[is_more])


def _brought(
    terms: Sequence[FieldTerm], ordinals: NDArray[np.int32], pieces: Mapping[PieceKey, Piece]
) -> NDArray[np.float64]:
    """Sum what the terms bring to the chunks of some numbers in ascending order."""
    brought = np.zeros(ordinals.size)
    for term in terms:
        for piece in _pieces(term, pieces):
            places, at = _common(ordinals, piece.ordinals)
            brought[places] += term.brings(piece.tfs[at].astype(np.float64), piece.lengths[at])
    return brought


def _common(one: NDArray[np.int32], other: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where in each of two ascending columns the numbers are that are in both."""
    if one.size > other.size:
        there, here = _common(other, one)
        return here, there
    # Methods, since numpy's functions of the same names take longer than looking through lists of this length.
    at = np.minimum(other.searchsorted(one), other.size - 1)
    (here,) = (other[at] == one).nonzero()
    return here, at[here]


def _pieces(term: FieldTerm, pieces: Mapping[PieceKey, Piece]) -> list[Piece]:
    return [pieces[key] for key in term.pieces if key in pieces]


# Chunk numbers that lie closer than this are summed by place in an array, others by sorting.
DENSE_SPAN = 4_000_000
# Up to so many postings are summed in one go, since many short lists cost more in calls than in sums.
AT_ONCE = 50_000
# Whether the rest can be left out is asked for the first time after so many postings, or one for so many places that
# looking goes through, and then after each doubling.
FIRST_LOOK = 4_000
PLACES_PER_POSTING = 16
# Well above what sums of a few dozen numbers up to 1 can be wrong by.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Chunks in columns: numbers in ascending order, and what each field says. ``is_complete`` when all are here."""

    ordinals: NDArray[np.int64]
    words: NDArray[np.float64]
    bigrams: NDArray[np.float64]
    is_complete: bool = True

    @property
    def total(self) -> NDArray[np.float64]:
        total: NDArray[np.float64] = self.words + self.bigrams
        return total

    def keep(self, ordinals: NDArray[np.int64]) -> Self:
        places, is_here = self._places(np.sort(ordinals))
        return self.at(places[is_here])

    def of(self, ordinals: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what the fields words and bigrams say of each of some numbers; 0 of those that are not here."""
        places, is_here = self._places(ordinals)
        words, bigrams = np.zeros(ordinals.size), np.zeros(ordinals.size)
        words[is_here], bigrams[is_here] = self.words[places[is_here]], self.bigrams[places[is_here]]
        return words, bigrams

    def first(self, limit: int) -> Self:
        """Keep the best ones, in their order; of equals the smaller number comes first."""
        total = self.total
        top = np.sort(top_places(total, limit))
        return self.at(top[np.argsort(-total[top], kind="stable")])

    def _places(self, ordinals: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        places = np.searchsorted(self.ordinals, ordinals)
        is_here = places < self.ordinals.size
        is_here[is_here] = self.ordinals[places[is_here]] == ordinals[is_here]
        return places, is_here

    def at(self, places: NDArray[np.int64]) -> Self:
        return type(self)(
            ordinals=self.ordinals[places],
            words=self.words[places],
            bigrams=self.bigrams[places],
            is_complete=self.is_complete,
        )


def top_places(total: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return the places of the ``size`` largest values, of equals the first ones, without sorting all."""
    if size >= len(total):
        return np.arange(len(total))
    least = np.partition(total, len(total) - size)[len(total) - size]
    above, equal = np.flatnonzero(total > least), np.flatnonzero(total == least)
    return np.concatenate([above, equal[: size - len(above)]])


# Gives the scores of the best chunks, and of those of some numbers that have any of the terms. Called once.
ScoresWith = Callable[[NDArray[np.int64]], Scores]


@dataclass(frozen=True, slots=True, kw_only=True)
class _List:
    """A term with its postings, and the most that one of them can bring."""

    term: FieldTerm
    pieces: list[Piece]
    postings: int

    @property
    def most(self) -> float:
        return max((self.term.brings(piece.peak_tf, piece.least_length) for piece in self.pieces), default=0.0)


class _Sums:
    """The sums so far, by place: of every chunk number in the span, or of those that occur. They begin with what other
    names bring.
    """

    def __init__(self, lists: Sequence[_List], gained: Sequence[Gain]) -> None:
        columns = [piece.ordinals for one in lists for piece in one.pieces]
        columns += [gain.ordinals for gain in gained if gain.ordinals.size]
        self._low = min((int(column[0]) for column in columns), default=0)
        size = max((int(column[-1]) for column in columns), default=-1) - self._low + 1
        self._numbers: NDArray[np.int64] | None = None
        if size > max(DENSE_SPAN, sum(column.size for column in columns)):
            self._numbers = np.unique(np.concatenate(columns)).astype(np.int64)
            size = self._numbers.size
        self._by_field = {name: np.zeros(size) for name in LexicalField.values}
        for gain in gained:
            self._by_field[gain.field][self.places(gain.ordinals)] += gain.brought

    @property
    def size(self) -> int:
        return int(self._by_field[LexicalField.WORD].size)

    @property
    def total(self) -> NDArray[np.float64]:
        total: NDArray[np.float64] = self._by_field[LexicalField.WORD] + self._by_field[LexicalField.BIGRAM]
        return total

    def add(self, one: _List) -> None:
        sums = self._by_field[one.term.field]
        for piece in one.pieces:
            sums[self.places(piece.ordinals)] += one.term.brings(piece.tfs.astype(np.float64), piece.lengths)

    def add_all(self, lists: Sequence[_List]) -> None:
        """Add what all terms bring, in one go; every sum grows in the order of the lists, as by `add`."""
        for name, sums in self._by_field.items():
            parts = [(one.term, piece) for one in lists if one.term.field == name for piece in one.pieces]
            if parts:
                places = self.places(np.concatenate([piece.ordinals for _term, piece in parts]))
                sums += np.bincount(places, weights=_brought_by_all(parts), minlength=sums.size)

    def add_at(self, one: _List, wanted: NDArray[np.bool_]) -> None:
        sums = self._by_field[one.term.field]
        for piece in one.pieces:
            places = self.places(piece.ordinals)
            chosen = np.flatnonzero(wanted[places])
            tfs = piece.tfs[chosen].astype(np.float64)
            sums[places[chosen]] += one.term.brings(tfs, piece.lengths[chosen])

    def places(self, ordinals: NDArray[Any]) -> NDArray[Any]:
        """Return the place of each number; the numbers must occur."""
        return ordinals - self._low if self._numbers is None else np.searchsorted(self._numbers, ordinals)

    def mark(self, given: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Mark the places of those numbers that have one."""
        marks = np.zeros(self.size, bool)
        if self._numbers is None:
            marks[given[(given >= self._low) & (given < self._low + self.size)] - self._low] = True
        else:
            marks[np.isin(self._numbers, given)] = True
        return marks

    def scores(self, places: NDArray[np.int64], *, is_complete: bool) -> Scores:
        return Scores(
            ordinals=places + self._low if self._numbers is None else self._numbers[places],
            words=self._by_field[LexicalField.WORD][places],
            bigrams=self._by_field[LexicalField.BIGRAM][places],
            is_complete=is_complete,
        )


def all_scores(terms: Sequence[FieldTerm], pieces: Mapping[PieceKey, Piece]) -> Scores:
    """Score every chunk that has any of the terms."""
    lists, gained = _lists(terms, pieces), gains(terms, pieces)
    sums = _Sums(lists, gained)
    if _are_short(lists, gained):
        sums.add_all(lists)
    else:
        for one in lists:
            sums.add(one)
    return sums.scores(np.flatnonzero(sums.total), is_complete=True)


def scores_of(
    terms: Sequence[FieldTerm], pieces: Mapping[PieceKey, Piece], ordinals: NDArray[np.integer[Any]]
) -> Scores:
    """Score those of some chunks that have any of the terms, as `all_scores` would."""
    nobody = np.zeros(0, np.int64)
    if not ordinals.size:
        return Scores(ordinals=nobody, words=np.zeros(0), bigrams=np.zeros(0), is_complete=False)
    lists, gained = _lists(terms, pieces), gains(terms, pieces)
    sums = _Sums(lists, gained)
    if _are_short(lists, gained):
        sums.add_all(lists)
        lists = []
    return _finish(sums, lists, nobody, ordinals)


def _are_short(lists: Sequence[_List], gained: Sequence[Gain]) -> bool:
    """Return whether lists are summed faster in one go than one by one, or in part."""
    return not gained and sum(one.postings for one in lists) <= AT_ONCE


def best_scores(terms: Sequence[FieldTerm], pieces: Mapping[PieceKey, Piece], limit: int) -> ScoresWith:
    """Score the best ``limit`` chunks at least; what is given scores those of other numbers that have any term, too."""
    lists = _lists(terms, pieces)
    sums = _Sums(lists, gains(terms, pieces))
    most_left = np.append(np.cumsum([one.most for one in lists][::-1])[::-1], 0.0)
    read, look = 0, max(FIRST_LOOK, sums.size // PLACES_PER_POSTING)
    for place, one in enumerate(lists):
        if read >= look:
            look = 2 * read
            leaders = _leaders(sums.total, limit, float(most_left[place]))
            if leaders is not None:
                return partial(_finish, sums, lists[place:], leaders)
        sums.add(one)
        read += one.postings
    complete = sums.scores(np.flatnonzero(sums.total), is_complete=True)
    return lambda _also: complete


def _lists(terms: Sequence[FieldTerm], pieces: Mapping[PieceKey, Piece]) -> list[_List]:
    """Put the terms that stand for themselves in the order of summing, those that the fewest chunks have first.

    Within a field it is the same whatever is left out, and whatever there is that the caller may not see.
    """
    lists = []
    for term in (one for one in terms if one.synonym is None):
        own = [pieces[key] for key in term.pieces if key in pieces]
        lists.append(_List(term=term, pieces=own, postings=sum(piece.ordinals.size for piece in own)))
    return sorted(lists, key=lambda one: one.term.chunks)


def _leaders(total: NDArray[np.float64], limit: int, most_left: float) -> NDArray[np.int64] | None:
    """Return the places that can still be among the best; None where another place could get there, too."""
    above = total[total > most_left]
    if above.size < limit:
        return None
    least = np.partition(above, above.size - limit)[above.size - limit]
    return np.flatnonzero(total >= least - most_left - ROUNDING) if least > most_left + ROUNDING else None


def _finish(sums: _Sums, rest: Sequence[_List], leaders: NDArray[np.int64], also: NDArray[np.integer[Any]]) -> Scores:
    wanted = sums.mark(also)
    wanted[leaders] = True
    for one in rest:
        sums.add_at(one, wanted)
    scores = sums.scores(np.flatnonzero(wanted), is_complete=False)
    return scores.at(np.flatnonzero(scores.total > 0))


def _brought_by_all(parts: Sequence[tuple[FieldTerm, Piece]]) -> NDArray[np.float64]:
    """Return what each posting of several pieces brings, one piece after the other."""
    sizes = [piece.ordinals.size for _term, piece in parts]
    share, base, slope = np.repeat([(term.share, term.base, term.slope) for term, _piece in parts], sizes, axis=0).T
    tf = np.concatenate([piece.tfs for _term, piece in parts]).astype(np.float64)
    length = np.concatenate([piece.lengths for _term, piece in parts])
    brought: NDArray[np.float64] = share * tf / (tf + base + slope * length)
    return brought
