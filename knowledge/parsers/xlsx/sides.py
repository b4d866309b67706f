"""Part tables that stand side by side on a sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from knowledge.parsers.xlsx.region import Place, Row

_MIN_COLUMNS = 2
_MIN_ROWS = 2
_MIN_FILLED = 0.8


def side_by_side(rows: Sequence[Row], merged: Mapping[Place, Place]) -> list[dict[Place, str]]:
    """Return the cells of each table of a run of rows, from the left; empty when the run is not several tables.

    Between them is a column that no cell reaches. That alone is no proof, since designs on graph paper leave columns
    free inside a table, and wide comparisons set their sides apart: each side must be a full table with a first column
    that goes down to its end, and differ from the first in its rows, or have a title of its own, or repeat a name of
    its head.
    """
    sides = [_cells(rows, first, last) for first, last in _blocks(rows, merged)]
    if len(sides) < 2 or not all(map(_could_be_table, sides)):
        return []
    return sides if all(_is_apart(sides[0], side) for side in sides[1:]) else []


def _blocks(rows: Sequence[Row], merged: Mapping[Place, Place]) -> Iterator[tuple[int, int]]:
    """Yield the runs of columns that cells reach."""
    spans = sorted({(column, merged.get((row.number, column), (0, column))[1]) for row in rows for column in row.cells})
    first, last = spans[0]
    for start, end in spans[1:]:
        if start > last + 1:
            yield first, last
            first = start
        last = max(last, end)
    yield first, last


def _cells(rows: Sequence[Row], first: int, last: int) -> dict[Place, str]:
    return {(row.number, column): text for row in rows for column, text in row.cells.items() if first <= column <= last}


def _could_be_table(side: Mapping[Place, str]) -> bool:
    widths = Counter(row for row, _ in side)
    heights = Counter(column for _, column in side)
    full = sum(1 for width in widths.values() if width > 1)
    if len(heights) < _MIN_COLUMNS or full < _MIN_ROWS:
        return False
    return heights[min(heights)] >= full and len(side) >= _MIN_FILLED * len(heights) * full


def _is_apart(first: Mapping[Place, str], side: Mapping[Place, str]) -> bool:
    head, other = _head(first), _head(side)
    titled = _first_row_is_alone(first) and _first_row_is_alone(side)
    return titled or bool(head & other) or {row for row, _ in first} != {row for row, _ in side}


def _head(side: Mapping[Place, str]) -> set[str]:
    """Return the texts of the first row with more than one."""
    widths = Counter(row for row, _ in side)
    head = min((row for row, width in widths.items() if width > 1), default=None)
    return {text for (row, _), text in side.items() if row == head}


def _first_row_is_alone(side: Mapping[Place, str]) -> bool:
    top = min(row for row, _ in side)
    return sum(1 for row, _ in side if row == top) == 1
