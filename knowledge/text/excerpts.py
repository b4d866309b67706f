"""The part of a passage that fits a given room: whole table rows, lines and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from knowledge.text.sentences import lines_of, sentence_ends

_ROW = re.compile(r"[ \t　]*\|")
_RULER = re.compile(r"[ \t　]*+\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-++:?+[ \t]*+)*+\|?+[ \t]*+")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
# Cutting less than this share of the room off is not worth a click.
_SLACK = 1.3

Spans = Sequence[tuple[int, int]]


def excerpt(text: str, spans: Spans, *, room: int) -> tuple[int, int]:
    """Return which part ``[start, end)`` of a text of up to ``room`` characters has the most of the marked ones.

    It begins and ends with a table's row, a line, or a sentence of a line that is longer than the room, however long a
    row may be; all of a text that is hardly longer than the room.
    """
    if len(text) <= room * _SLACK:
        return 0, len(text)
    units = list(_units(text, room))
    first, last = _fullest(units, spans, room)
    while first > 0 and units[last][1] - units[first - 1][0] <= room:
        first -= 1
    return units[first][0], units[last][1]


def table_head(text: str, start: int) -> str:
    """Give the header and ruler rows, with line ends, of the table that the line at ``start`` goes on with; or nothing.

    >>> table_head("| 項目 | 値 |\\n|---|---|\\n| a | 1 |\\n| b | 2 |", 31)
    '| 項目 | 値 |\\n|---|---|\\n'
    """
    if not _ROW.match(text, start):
        return ""
    lines = list(lines_of(text, 0, start))
    rows = 0
    while rows < len(lines) and _ROW.match(text, lines[-1 - rows][0]):
        rows += 1
    if rows < 2 or not is_ruler(text[slice(*lines[1 - rows])]):  # 1 - rows: the second of these rows
        return ""
    return text[lines[-rows][0] : lines[-rows][1]] + text[lines[1 - rows][0] : lines[1 - rows][1]]


def open_fence(text: str, start: int) -> str:
    """Return the line, with its end, of a fence of code that is open at ``start``; or nothing."""
    opened = ""
    for begin, end in lines_of(text, 0, start):
        if _FENCE.match(text, begin, end):
            opened = "" if opened else text[begin:end]
    return opened


def is_ruler(line: str) -> bool:
    return "-" in line and _RULER.fullmatch(line.strip("\n")) is not None


def is_row(line: str) -> bool:
    return _ROW.match(line) is not None


def _units(text: str, room: int) -> Iterator[tuple[int, int]]:
    """Yield what is not cut, in order and without gaps; a table's header is one with its ruler and first row."""
    lines = list(lines_of(text, 0, len(text)))
    number = 0
    while number < len(lines):
        start, end = lines[number]
        number += 1
        if not is_row(text[start:end]):
            yield from [(start, end)] if end - start <= room // 2 else _sentences(text, start, end, room)
            continue
        if number < len(lines) and is_ruler(text[slice(*lines[number])]):
            number = min(number + 2, len(lines))
            end = lines[number - 1][1]
        yield start, end


def _sentences(text: str, start: int, end: int, room: int) -> Iterator[tuple[int, int]]:
    """Cut a long line behind its sentences; one without an end for too long is cut where the room ends."""
    ends = [stop for stop in sentence_ends(text, start, end) if stop < end]
    for begin, stop in pairwise([start, *ends, end]):
        yield from ((at, min(at + room, stop)) for at in range(begin, stop, room))


def _fullest(units: Sequence[tuple[int, int]], spans: Spans, room: int) -> tuple[int, int]:
    """Tell the first and last of the units that fit the room and have the most of what is marked, the first of equals.

    What is marked counts where it begins; a unit longer than the room is alone.
    """

    def fitting(first: int) -> int:
        fit = (number for number in range(first, len(units)) if units[number][1] - units[first][0] > room)
        return max(next(fit, len(units)) - 1, first)

    def seen(first: int) -> int:
        begin, stop = units[first][0], units[fitting(first)][1]
        return sum(end - start for start, end in spans if begin <= start < stop)

    best = max(range(len(units)), key=lambda number: (seen(number), -number))
    return best, fitting(best)
