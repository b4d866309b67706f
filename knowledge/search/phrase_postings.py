"""What postings tell of a phrase: which passages have nearly all of its terms."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from knowledge.models import EmbeddingSet, LexicalField
from knowledge.search.lexical import occurring
from knowledge.search.postings import Piece, PieceKey
from knowledge.search.visible import VisibleVersions
from knowledge.search.weighing import KnownTerm, known_terms, visible_pieces

# Of a phrase's terms, so many narrow down where it may stand; of each three one may be divided by the end of a line,
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


def rarest(group: Iterable[str], known: Mapping[str, KnownTerm]) -> list[KnownTerm]:
    """Give those of a phrase's terms that narrow down the most where it may stand, the rarest first."""
    terms = (known[text] for text in dict.fromkeys(group) if text in known)
    return sorted(terms, key=lambda term: (term.chunks, term.text))[:MOST_NARROWING]


def breaks_in(group: Collection[str]) -> int:
    """Tell how many of a phrase's terms ends of lines may divide."""
    return min(len(set(group)) // TERMS_PER_BREAK, MOST_BREAKS)


def _least(group: Sequence[str], known: Collection[str]) -> int:
    """How many of the asked terms a passage has in which the phrase occurs; 0 or less when none can have it."""
    texts, divided = set(group), breaks_in(group)
    nowhere = sum(text not in known for text in texts)
    return min(len(texts) - nowhere, MOST_NARROWING) - (divided - nowhere) if nowhere <= divided else 0


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
                counts += occurring(numbers, column[segment_id])
        found.append(numbers[counts >= least])
    return np.sort(np.concatenate(found))
