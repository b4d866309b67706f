"""Which passages may have a phrase, by their postings: nearly all of its terms, or a half of them.

The border between two passages divides a phrase somewhere: what is before are terms of the first passage, what
is behind are terms of the second one, and a term over the border is in neither. The rarer half decides where to
look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from operator import or_

import numpy as np
from numpy.typing import NDArray

from knowledge.models import EmbeddingSet, LexicalField
from knowledge.search.bm25 import all_scores, scores_of
from knowledge.search.postings import Piece, PieceKey, occurring
from knowledge.search.visible import VisibleVersions
from knowledge.search.weighing import FieldTerm, KnownTerm, known_terms, visible_pieces

# Of a phrase's terms, so many narrow down where it may be; of each three one may be divided by the end of a line,
# but no more than two.
MOST_NARROWING = 6
TERMS_PER_BREAK = 3
MOST_BREAKS = 2


def known_of_phrases(
    groups: Iterable[Sequence[str]], embedding_set: EmbeddingSet, *, visible: VisibleVersions | None
) -> dict[str, KnownTerm]:
    """Look up which terms of phrases, of the field bigrams, the set's chunks of the visible versions have, or all.

    Queries as for `weigh_terms`.
    """
    texts = dict.fromkeys(text for group in groups for text in group)
    if not texts:
        return {}
    name = LexicalField.BIGRAM.value
    return {
        term.text: term for term in known_terms({name: texts}, embedding_set.policy_id, visible=visible)[name].terms
    }


def numbers_with_most(groups: Sequence[Sequence[str]], known: Mapping[str, KnownTerm]) -> NDArray[np.int32]:
    """Find the numbers in the index of the visible chunks that have, of each group, nearly all terms.

    In ascending order. Each group is a phrase's: where a line is broken inside of it, the index lacks the term that the
    break divides. At most one query.
    """
    least = [_least(group, known) for group in groups]
    if not all(number > 0 for number in least):
        return np.zeros(0, np.int32)
    asked = [rarest(group, known) for group in groups]
    pieces = visible_pieces([term for terms in asked for term in terms])
    found = [_having(terms, pieces, number) for terms, number in zip(asked, least, strict=True)]
    return reduce(np.intersect1d, found)


def ranked_numbers(
    terms: Sequence[FieldTerm], limit: int, *, among: NDArray[np.int32] | None = None
) -> NDArray[np.int64]:
    """Return the numbers in the index of the best ``limit`` visible chunks that have any term, or of some.

    The best first; those of ``among`` that have no term come last. At most one query.
    """
    pieces = visible_pieces(terms)
    if among is None:
        return all_scores(terms, pieces).first(limit).ordinals
    scores = scores_of(terms, pieces, among)
    rest = np.setdiff1d(among, scores.ordinals) if scores.ordinals.size < limit else among[:0]
    return np.append(scores.first(limit).ordinals, rest)[:limit]


def rarest(group: Iterable[str], known: Mapping[str, KnownTerm]) -> list[KnownTerm]:
    """Return those of a phrase's terms that narrow down the most where it may be, the rarest first."""
    terms = (known[text] for text in dict.fromkeys(group) if text in known)
    return sorted(terms, key=lambda term: (term.chunks, term.text))[:MOST_NARROWING]


def breaks_in(group: Collection[str]) -> int:
    """Return how many of a phrase's terms ends of lines may divide."""
    return min(len(set(group)) // TERMS_PER_BREAK, MOST_BREAKS)


def _least(group: Sequence[str], known: Collection[str]) -> int:
    """How many of the asked terms a passage has in which the phrase occurs; 0 or less when none can have it."""
    texts, divided = set(group), breaks_in(group)
    nowhere = sum(text not in known for text in texts)
    return min(len(texts) - nowhere, MOST_NARROWING) - (divided - nowhere) if nowhere <= divided else 0


def _having(terms: Sequence[KnownTerm], pieces: Mapping[PieceKey, Piece], least: int) -> NDArray[np.int32]:
    """Return the numbers that at least so many of the terms have, in ascending order; the rarest terms come first.

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
                counts += occurring(numbers, column[segment_id])
        found.append(numbers[counts >= least])
    return np.sort(np.concatenate(found))


# Fewer terms, as of two characters, may have all been divided, or tell too little.
LEAST_DIVIDED = 3
# Of passages that may have a half, so many are looked at with their neighbours.
MOST_DIVIDED = 400
# Chunk numbers that lie closer than this are marked by place.
DENSE_SPAN = 4_000_000
# A set of terms is a number, with a bit for each.
_SETS = 1 << MOST_NARROWING
_SIZE = np.bitwise_count(np.arange(_SETS)).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """One place where the border may be: how many terms each set of terms lacks to be the first or the second half.

    ``room`` is how many both may lack together, for ends of lines.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    room: int

    def may_be_pair(self) -> NDArray[np.bool_]:
        """Tell of each two sets whether passages with these terms may have the phrase together."""
        may: NDArray[np.bool_] = self.before[:, None] + self.after[None, :] <= self.room
        return may


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """The chunks that may have a half of a phrase: by number, which of its terms they have, as bits, and each half.

    ``may_be_pair`` tells of each two sets of terms whether passages with these may have the phrase together.
    """

    numbers: NDArray[np.int64]
    terms: NDArray[np.uint8]
    firsts: NDArray[np.int64]
    seconds: NDArray[np.int64]
    may_be_pair: NDArray[np.bool_]

    def __len__(self) -> int:
        return self.firsts.size + self.seconds.size

    def terms_of(self, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return which terms the chunks of some numbers have."""
        places = np.minimum(np.searchsorted(self.numbers, numbers), self.numbers.size - 1)
        terms: NDArray[np.uint8] = np.where(self.numbers[places] == numbers, self.terms[places], np.uint8(0))
        return terms


def find_halves(terms: Sequence[str], known: Mapping[str, KnownTerm], pieces: Mapping[PieceKey, Piece]) -> Halves:
    """Find the chunks that may have a half of a phrase of these terms, three or more, in their order.

    Passages that are written together are numbered in a row, except where other writers come in between. So where there
    are more than ``MOST_DIVIDED``, those are taken that have most of the phrase together with the next number.
    """
    asked = rarest(terms, known)
    cuts = _cuts(terms, {term.text: place for place, term in enumerate(asked)}, known)
    numbers, held = _marked([[pieces[key].ordinals for key in term.pieces if key in pieces] for term in asked])
    may_be_pair = reduce(or_, (cut.may_be_pair() for cut in cuts), np.zeros((_SETS, _SETS), bool))
    may_be_first, may_be_second = _rarer(cuts, np.bincount(held, minlength=_SETS))
    is_next = np.diff(numbers, append=-1) == 1
    behind = np.where(is_next, np.roll(held, -1), np.uint8(0))
    before = np.where(np.roll(is_next, 1), np.roll(held, 1), np.uint8(0))
    firsts = np.flatnonzero(may_be_first[held] | (is_next & may_be_pair[held, behind]))
    seconds = np.flatnonzero(may_be_second[held])
    together = np.concatenate([_SIZE[held[firsts] | behind[firsts]], _SIZE[held[seconds] | before[seconds]]])
    best = np.argsort(-together, kind="stable")[:MOST_DIVIDED]
    return Halves(
        numbers=numbers,
        terms=held,
        firsts=numbers[firsts[best[best < firsts.size]]],
        seconds=numbers[seconds[best[best >= firsts.size] - firsts.size]],
        may_be_pair=may_be_pair,
    )


def _rarer(cuts: Sequence[_Cut], count: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which sets of terms to look for as first and as second halves; ``count``: how many chunks have each."""
    number = count.astype(float)
    number[0] = np.inf  # all the chunks without any of the terms
    may_be_first, may_be_second = np.zeros(_SETS, bool), np.zeros(_SETS, bool)
    for cut in cuts:
        for lacking in range(cut.room + 1):
            first, second = cut.before <= lacking, cut.after <= cut.room - lacking
            if number[first].sum() <= number[second].sum():
                may_be_first |= first
            else:
                may_be_second |= second
    return may_be_first, may_be_second


def _cuts(terms: Sequence[str], asked: Mapping[str, int], known: Collection[str]) -> list[_Cut]:
    """Return where a border may divide a phrase. Between two terms is no place of its own, for less is asked at one."""
    placed = [term for term in terms if term in asked or term not in known]
    # What no chunk has is divided here, or by the end of a line.
    bits = [1 << asked[term] if term in asked else 0 for term in placed]
    before = accumulate(bits, or_, initial=0)
    after = [*accumulate(reversed(bits), or_, initial=0)][-2::-1]
    rooms = (breaks_in(terms) - sum(bit == 0 for bit in bits) + (bit == 0) for bit in bits)
    return [
        _Cut(before=_lacking(first), after=_lacking(second), room=room)
        for first, second, room in dict.fromkeys(zip(before, after, rooms, strict=False))
        if room >= 0
    ]


def _lacking(needed: int) -> NDArray[np.int64]:
    """Count of each set of terms how many of the needed ones are not in it."""
    lacking: NDArray[np.int64] = _SIZE[needed & ~np.arange(_SETS)]
    return lacking


def _marked(columns: Sequence[Sequence[NDArray[np.int32]]]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the numbers of the chunks that have any of the terms, ascending, and which ones as a set."""
    every = [numbers for column in columns for numbers in column]
    if not every:
        return np.zeros(0, np.int64), np.zeros(0, np.uint8)
    low, high = min(int(one[0]) for one in every), max(int(one[-1]) for one in every)
    is_dense = high - low < DENSE_SPAN
    numbers = np.zeros(0, np.int32) if is_dense else np.unique(np.concatenate(every))
    marks = np.zeros(high - low + 1 if is_dense else numbers.size, np.uint8)
    for bit, column in enumerate(columns):
        for one in column:
            marks[one - low if is_dense else np.searchsorted(numbers, one)] |= 1 << bit
    places = np.flatnonzero(marks)
    return (places + low if is_dense else numbers.astype(np.int64)), marks[places]
