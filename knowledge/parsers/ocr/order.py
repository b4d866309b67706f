"""The order in which the lines of a page are read: columns, tables row by row, vertical text from the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median_low
from typing import TypeVar

from knowledge.parsers.ocr.cells import Box, Item
from knowledge.parsers.ocr.engine import FoundLine
from knowledge.parsers.ocr.rules import Rules
from knowledge.parsers.ocr.vertical_order import around, by_regions, strips
from knowledge.types.ocr import Quad

T = TypeVar("T")
# A table of horizontal text may have some names in columns; a magazine's page of columns may be half figures.
_VERTICAL_SHARE = 0.3
# In heights of a line: how wide a gutter is, how long the lines beside it are, what parts blocks, what is one row.
_GUTTER, _LONG_LINE, _BLOCK_GAP, _SAME_ROW = 0.6, 10.0, 0.3, 0.5
# A page's last column may be a short one.
_LEAST_LINES, _LEAST_OF_COLUMN, _DEEPEST = 4, 2, 6
# How much of a column's text is in long lines: one of two columns may have a table, a table has short lines alone.
_LEAST_SHARE = 0.4


def straight_box(quad: Quad, skew: float) -> Box:
    """The upright box around a line once the page's skew is undone."""
    xs = [x + skew * y for x, y in quad]
    ys = [y - skew * x for x, y in quad]
    return min(xs), min(ys), max(xs), max(ys)


def is_vertical_page(lines: Sequence[FoundLine]) -> bool:
    """Whether so many of a page's characters are in columns that these are its text, beside figures and tables."""
    tall = sum(len(line.text) for line in lines if line.is_vertical and len(line.text) > 1)
    return tall > _VERTICAL_SHARE * sum(len(line.text) for line in lines)


def in_order(lines: Sequence[FoundLine], skew: float, rules: Callable[[], Rules] = Rules) -> list[FoundLine]:
    """Put lines, whose image is the right way up, in reading order; ``rules`` gives those of a page of columns."""
    if not lines:
        return []
    columns = _parts_of_columns(lines)
    items = [
        (around([(straight_box(part.quad, skew), part) for part in parts]), parts[0]) for parts in columns.values()
    ]
    is_vertical = is_vertical_page(lines)
    ordered = by_regions(items, rules(), columns=_columns, rows=_across) if is_vertical else _across(items)
    return [part for _box, first in ordered for part in columns[_column_of(first)]]


def _parts_of_columns(lines: Sequence[FoundLine]) -> dict[int | Quad, list[FoundLine]]:
    """The parts of each column in their order; a line that is of none is one of its own."""
    found: dict[int | Quad, list[FoundLine]] = {}
    for line in lines:
        found.setdefault(_column_of(line), []).append(line)
    return found


def _column_of(line: FoundLine) -> int | Quad:
    return line.quad if line.column is None else line.column


def _across(items: Sequence[Item]) -> list[Item]:
    return _cut(items, _height(items), depth=0)


def _columns(items: Sequence[Item]) -> list[Item]:
    """Columns of one block: a column becomes a row, the rightmost the first."""
    rows = [((top, -right, bottom, -left), (box, line)) for box, line in items for left, top, right, bottom in [box]]
    return [item for _box, item in _rows(rows, _height(rows))]


def _height(items: Sequence[tuple[Box, object]]) -> float:
    return median_low(box[3] - box[1] for box, _line in items)


def _cut(items: Sequence[Item], height: float, *, depth: int) -> list[Item]:
    """Part at the widest gutter between two columns of long lines, else between blocks, else go row by row."""
    if len(items) < _LEAST_LINES or depth > _DEEPEST:
        return _rows(items, height)
    for begin, end in strips(items, 0, _GUTTER * height)[:1]:
        left = [item for item in items if item[0][2] <= begin]
        right = [item for item in items if item[0][0] >= end]
        if _are_columns(left, right, height):
            return [one for side in (left, right) for one in _cut(side, height, depth=depth + 1)]
    levels = strips(items, 1, _BLOCK_GAP * height)
    if not levels:
        return _rows(items, height)
    begin, end = levels[0]
    above = [item for item in items if item[0][3] <= begin]
    below = [item for item in items if item[0][1] >= end]
    return [one for part in (above, below) for one in _cut(part, height, depth=depth + 1)]


def _are_columns(left: Sequence[Item], right: Sequence[Item], height: float) -> bool:
    is_long_enough = max(len(left), len(right)) >= _LEAST_LINES
    return is_long_enough and _is_column(left, height) and _is_column(right, height)


def _is_column(items: Sequence[Item], height: float) -> bool:
    widths = [box[2] - box[0] for box, _line in items]
    long = sum(width for width in widths if width >= _LONG_LINE * height)
    return len(items) >= _LEAST_OF_COLUMN and long >= _LEAST_SHARE * sum(widths)


def _rows(items: Sequence[tuple[Box, T]], height: float) -> list[tuple[Box, T]]:
    rows: list[tuple[float, list[tuple[Box, T]]]] = []
    for item in sorted(items, key=lambda one: one[0][1] + one[0][3]):
        middle = (item[0][1] + item[0][3]) / 2
        if rows and middle < rows[-1][0] + _SAME_ROW * height:
            rows[-1][1].append(item)
        else:
            rows.append((middle, [item]))
    return [item for _middle, row in rows for item in sorted(row, key=lambda one: one[0][0])]
