"""What other names of something asked for bring to passages, beyond what the asked name brings there. Pure.

A passage may say 可用性, アベイラビリティ and 稼働率, and still tells of one thing. So of all its names the one counts
that brings the most; only where that is not the asked one, the difference is added to the asked one's sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.search.postings import Piece, PieceKey
from knowledge.search.weighing import FieldTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What chunks gain in one field, in columns: numbers in ascending order, and how much, above zero."""

    field: int
    ordinals: NDArray[np.int32]
    brought: NDArray[np.float64]


def gains(terms: Sequence[FieldTerm], pieces: Mapping[PieceKey, Piece]) -> list[Gain]:
    """Tell what those terms bring that stand in for others, for each thing that the query asks by one name."""
    own = {(term.field, term.text): term for term in terms if term.stand_in is None}
    by_name: dict[tuple[int, tuple[str, ...]], dict[str, list[FieldTerm]]] = {}
    for term in terms:
        if term.stand_in:
            others = by_name.setdefault((term.field, term.stand_in.instead_of), {})
            others.setdefault(term.stand_in.name, []).append(term)
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
    """Tell where in each of two ascending columns the numbers stand that are in both."""
    if one.size > other.size:
        there, here = _common(other, one)
        return here, there
    at = np.minimum(np.searchsorted(other, one), other.size - 1)
    here = np.flatnonzero(other[at] == one)
    return here, at[here]


def _pieces(term: FieldTerm, pieces: Mapping[PieceKey, Piece]) -> list[Piece]:
    return [pieces[key] for key in term.pieces if key in pieces]
