"""Chunks that keep to the sections of a document and, inside them, to stretches of one subject.

A stretch ends where the sentences before and after a place are less alike than at most other places of the same
document. Tables and code are never cut by meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from knowledge.chunkers.pieces import Budget, Piece
from knowledge.chunkers.section import Draft, Group, group_drafts, section_groups
from knowledge.types.documents import Block, Section

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
"""Turn chunks into rows of norm 1, in order."""

CUT_PERCENTILE = 80.0
"""Of the document's distances between neighbours those above this percentile are cuts: one place in five."""
MIN_SHARE = 0.2
"""A stretch below this share of a chunk is no chunk of its own; cutting it off would only scatter its subject."""
# Two sentences on either side: one alone is often a bare "次のとおりとする。".
_WINDOW = 2
_WINDOW_CHARACTERS = 400
_BATCH = 64


def semantic_drafts(
    markdown: str, blocks: Sequence[Block], sections: Sequence[Section], budget: Budget, embed: Embed
) -> Iterator[Draft]:
    """Yield drafts like those of the section strategy, cut also where neighbouring sentences part.

    Every sentence is embedded twice, as part of two windows, in batches; of the vectors only the distances between
    neighbours are kept.
    """
    groups = list(section_groups(markdown, blocks, sections))
    distances = [_distances(markdown, group.pieces, budget, embed) for group in groups]
    measured = [value for group in distances for value in group.values()]
    threshold = float(np.percentile(measured, CUT_PERCENTILE)) if measured else 0.0
    for group, found in zip(groups, distances, strict=True):
        cuts = {index for index, value in found.items() if value > threshold}
        for stretch in _stretches(markdown, group.pieces, cuts, budget):
            yield from group_drafts(markdown, Group(sections=group.sections, pieces=stretch), budget)


def _distances(markdown: str, pieces: list[Piece], budget: Budget, embed: Embed) -> dict[int, float]:
    """Map each index where a cut is possible to the distance (0 to 2) between the text before and after it."""
    # between two sentences or list items, never behind a heading
    places = [index for index in range(1, len(pieces)) if pieces[index - 1].repeatable and pieces[index].repeatable]
    whole = sum(budget.estimate(markdown[piece.start : piece.end]) for piece in pieces)
    if whole <= 2 * MIN_SHARE:
        return {}
    found: dict[int, float] = {}
    for first in range(0, len(places), _BATCH):
        sides = {index: _sides(pieces, index) for index in places[first : first + _BATCH]}
        # What is behind one place is before the next but one: embedded once.
        windows = list(dict.fromkeys(chain.from_iterable(sides.values())))
        vectors = embed([_window_text(markdown, pieces, window, budget) for window in windows])
        rows = dict(zip(windows, vectors, strict=True))
        found.update({index: 1.0 - float(rows[before] @ rows[after]) for index, (before, after) in sides.items()})
    return found


def _sides(pieces: list[Piece], index: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the half-open ranges of pieces before and after a place, as far as prose reaches."""
    start, end = index - 1, index + 1
    while start > 0 and index - start < _WINDOW and pieces[start - 1].repeatable:
        start -= 1
    while end < len(pieces) and end - index < _WINDOW and pieces[end].repeatable:
        end += 1
    return (start, index), (index, end)


def _window_text(markdown: str, pieces: list[Piece], window: tuple[int, int], budget: Budget) -> str:
    first, end = window
    text = markdown[pieces[first].start : pieces[end - 1].end].strip()[:_WINDOW_CHARACTERS]
    while len(text) > 1 and not budget.fits(text):
        text = text[: len(text) // 2]
    return text


def _stretches(markdown: str, pieces: list[Piece], cuts: set[int], budget: Budget) -> Iterator[list[Piece]]:
    """Part pieces at the cuts; a cut that would leave too little on either side is passed over."""
    # All at once: the budget's estimates change as chunks are counted between two stretches.
    shares = [budget.estimate(markdown[piece.start : piece.end]) for piece in pieces]
    rest = sum(shares)
    stretch: list[Piece] = []
    filled = 0.0
    for index, (piece, share) in enumerate(zip(pieces, shares, strict=True)):
        if index in cuts and filled >= MIN_SHARE and rest >= MIN_SHARE:
            yield stretch
            stretch, filled = [], 0.0
        stretch.append(piece)
        filled += share
        rest -= share
    if stretch:
        yield stretch
