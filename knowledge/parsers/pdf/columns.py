"""Reading order of pages in two columns whose lines a PDF draws from left to right across both.

Writers that draw one column after the other need none of this: PDFium keeps their order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from knowledge.parsers.pdf.page import Line, Part

_MIN_LINES = 4
_MIN_FILLED_SHARE = 0.6
_MIN_CHARACTERS = 8.0
# In font sizes: how near to its column's right edge a line of running text ends.
_NEAR_EDGE = 2.0


def in_columns(lines: Sequence[Line]) -> list[Line]:
    """Part lines at the gutter and put each stretch's left column before its right one.

    Lines across the gutter, such as titles, stay where they are. Rows of tables are no columns: their left parts are
    short or end anywhere, while those of running text reach the gutter.
    """
    gutter = _gutter(lines)
    if gutter is None:
        return list(lines)
    ordered: list[Line] = []
    for across, stretch in groupby(lines, key=lambda line: _crosses(line, gutter)):
        if across:
            ordered.extend(stretch)
            continue
        parts = [part for line in stretch for part in _parted(line, gutter)]
        ordered.extend(dataclasses.replace(part, column=1) for part in parts if part.right <= gutter)
        ordered.extend(dataclasses.replace(part, column=2) for part in parts if part.right > gutter)
    return ordered


def _gutter(lines: Sequence[Line]) -> float | None:
    """Find the x that most gaps of the page contain, if what it parts is running text on both sides."""
    gaps = [(before.right, after.left) for line in lines for before, after in _neighbours(line.parts)]
    middles = [(left + right) / 2 for left, right in gaps]
    best = max(middles, key=lambda x: sum(1 for left, right in gaps if left < x < right), default=None)
    if best is None:
        return None
    pairs = [(line, parts) for line in lines if (parts := list(_parted(line, best))) and len(parts) > 1]
    if len(pairs) < _MIN_LINES:
        return None
    left_side = [parts[0] for _, parts in pairs]
    right_side = [parts[1] for _, parts in pairs[:-1]]
    return best if _is_running_text(left_side) and _is_running_text(right_side) else None


def _is_running_text(column: Sequence[Line]) -> bool:
    edge = max(line.right for line in column)
    filled = sum(1 for line in column if edge - line.right <= _NEAR_EDGE * line.size)
    characters = sum(len(line.text) for line in column) / len(column)
    return filled >= _MIN_FILLED_SHARE * len(column) and characters >= _MIN_CHARACTERS


def _neighbours(parts: Sequence[Part]) -> Iterator[tuple[Part, Part]]:
    return pairwise(parts)


def _crosses(line: Line, gutter: float) -> bool:
    return line.left < gutter < line.right and len(list(_parted(line, gutter))) == 1


def _parted(line: Line, gutter: float) -> Iterator[Line]:
    """Yield the line in two where one of its gaps holds the gutter, else whole."""
    for index, (before, after) in enumerate(_neighbours(line.parts), 1):
        if before.right < gutter < after.left:
            left, right = line.parts[:index], line.parts[index:]
            yield _joined(line, left)
            yield _joined(line, right)
            return
    yield line


def _joined(line: Line, parts: Sequence[Part]) -> Line:
    text = " ".join(part.text for part in parts)
    return dataclasses.replace(line, text=text, left=parts[0].left, right=parts[-1].right, parts=tuple(parts))
