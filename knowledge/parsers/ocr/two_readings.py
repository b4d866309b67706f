"""One text from two readings of a column: lying on its side, and as a row of upright characters.

The lying column is told apart well, but for its small marks (。「」っー), which are dropped. The row has
these, and takes characters that look alike for each other more often.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import takewhile
from statistics import fmean

from knowledge.parsers.ocr.recognition import LineText

# How much both have in common where the row was cut between its characters; how sure the row is of what it alone has,
# and by how much it is surer of what both read differently. Chosen on pages of columns that are in no figure.
_AGREEING, _SURE, _SURER = 0.4, 0.5, 0.1
# Marks that a column lying on its side loses, and that no other stroke of a row is taken for.
_MARKS = frozenset("、。「」『』（）()【】〔〕")

Read = tuple[str, float, float]


def agreement(lying: str, upright: str) -> float:
    """How much of their text two readings have in common, from 0 to 1."""
    return SequenceMatcher(None, lying, upright, autojunk=False).ratio()


def joined(lying: LineText, row: LineText) -> LineText:
    """Take the lying column, with what the row alone has, and what it is surer of; centres of both are the column's."""
    if not lying.text or agreement(lying.text, row.text) < _AGREEING:
        return lying
    chosen = list(_chosen(lying, row))
    return LineText(
        text="".join(text for text, _chance, _centre in chosen),
        confidence=fmean(chance for _text, chance, _centre in chosen),
        centres=tuple(centre for _text, _chance, centre in chosen),
        chances=tuple(chance for _text, chance, _centre in chosen),
    )


def _chosen(lying: LineText, row: LineText) -> Iterator[Read]:
    here, there = (list(zip(one.text, one.chances, one.centres, strict=True)) for one in (lying, row))
    parts = SequenceMatcher(None, lying.text, row.text, autojunk=False).get_opcodes()
    for kind, begin, end, row_begin, row_end in parts:
        known, other = here[begin:end], there[row_begin:row_end]
        if kind == "insert":
            yield from (read for read in other if read[1] >= _SURE)
        elif kind == "replace" and _mean_chance(other) > _mean_chance(known) + _SURER:
            yield from other
        elif kind == "replace":
            yield from _with_marks(known, other)
        else:
            yield from known


def _with_marks(known: list[Read], other: list[Read]) -> Iterator[Read]:
    """What the column has, between the marks that only the row begins and ends with."""
    before = list(takewhile(_is_sure_mark, other))
    after = list(takewhile(_is_sure_mark, reversed(other[len(before) :])))[::-1]
    yield from [] if known[0][0] in _MARKS else before
    yield from known
    yield from [] if known[-1][0] in _MARKS else after


def _is_sure_mark(read: Read) -> bool:
    return read[0] in _MARKS and read[1] >= _SURE


def _mean_chance(reads: list[Read]) -> float:
    return fmean(chance for _text, chance, _centre in reads)
