"""Cells of a list in columns: short parts in a row, each below the column that it belongs to, as numbers of pages."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.parsers.ocr.engine import FoundLine

Box = tuple[float, float, float, float]
Item = tuple[Box, FoundLine]

# In thicknesses of a column: how short and how narrow a cell is, and how far from its column's middle.
_SHORT, _NARROW, _SAME_COLUMN = 10.0, 3.0, 0.35
# How many cells a row has, and how much of them stand below columns; how much of a cell's height a row shares.
_LEAST_CELLS, _ALIGNED, _SAME_ROW = 2, 0.8, 0.5


def are_cells(above: Sequence[Item], below: Sequence[Item], thickness: float) -> bool:
    """Whether all that is below are cells of the columns above."""
    return all(_is_short(item, thickness) for item in below) and bool(hosts_of(below, [above], thickness))


def hosts_of(cells: Sequence[Item], blocks: Sequence[Sequence[Item]], thickness: float) -> list[tuple[Item, int]]:
    """Pair each cell with the number of the block that it stands below; none where too few of them do."""
    found = [(cell, host) for cell in cells if (host := _host_of(cell, blocks, thickness)) is not None]
    return found if len(cells) >= _LEAST_CELLS and len(found) >= _ALIGNED * len(cells) else []


def rows_of_cells(blocks: Sequence[Sequence[Item]], thickness: float) -> list[list[Item]]:
    """What may be cells: lines of blocks of short lines alone, row by row from above."""
    short = [item for items in blocks if all(_is_short(item, thickness) for item in items) for item in items]
    rows: list[list[Item]] = []
    for item in sorted(short, key=lambda one: one[0][1]):
        top, bottom = item[0][1], item[0][3]
        if rows and rows[-1][0][0][3] - top > _SAME_ROW * (bottom - top):
            rows[-1].append(item)
        else:
            rows.append([item])
    return rows


def _is_short(item: Item, thickness: float) -> bool:
    (left, top, right, bottom), _line = item
    return bottom - top < _SHORT * thickness and right - left < _NARROW * thickness


def _host_of(cell: Item, blocks: Sequence[Sequence[Item]], thickness: float) -> int | None:
    """The block with the lowest column above a cell."""
    (left, top, right, _bottom), _line = cell
    lowest = [
        (box[3], at)
        for at, items in enumerate(blocks)
        for box, _other in items
        if abs(box[0] + box[2] - left - right) <= 2 * _SAME_COLUMN * thickness and box[3] <= top + thickness
    ]
    return max(lowest)[1] if lowest else None
