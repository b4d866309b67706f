"""The order of a page of vertical text: its blocks, from the right and from above."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.parsers.ocr.engine import FoundLine

Box = tuple[float, float, float, float]
Item = tuple[Box, FoundLine]
Arrange = Callable[[Sequence[Item]], list[Item]]
Table = NDArray[np.bool_]

_WIDE = 1.5
# How much thicker than its neighbours in a block a line may be, how far from them in thicknesses, and how much of the
# shorter of two lies beside the longer.
_THICKER, _APART, _BESIDE = 1.35, 1.2, 0.3
# Parts of columns that are shorter than this, in thicknesses, and stand below others are cells of a table.
_SHORT, _ALIGNED, _SAME_COLUMN, _LEAST_CELLS = 10.0, 0.8, 0.25, 2
# More lines or blocks than a page of text has are specks, which have no order; each is compared with each.
_MOST_LINES, _MOST_BLOCKS = 1500, 200


@dataclass(frozen=True, slots=True)
class _Block:
    items: list[Item]
    box: Box
    is_across: bool

    @property
    def thickness(self) -> float:
        sizes = sorted(_thickness(item, self.is_across) for item in self.items)
        return sizes[len(sizes) // 2]


def by_blocks(items: Sequence[Item], *, columns: Arrange, rows: Arrange) -> list[Item]:
    """Order the lines of a page of vertical text.

    ``columns`` arranges the columns of one block from the right, ``rows`` lines that run across. A block is what
    stands side by side in type of one size, so that a heading over two tiers parts them and belongs to neither.
    """
    if len(items) > _MOST_LINES:
        return columns(items)
    blocks = [
        _Block([items[at] for at in part], _around(items, part), is_across)
        for is_across in (False, True)
        for part in _parts(items, [at for at, item in enumerate(items) if _runs_across(item) == is_across], is_across)
    ]
    blocks = _with_cells(blocks)
    if len(blocks) > _MOST_BLOCKS:
        return columns(items)
    return [item for at in _order(blocks) for item in (rows if blocks[at].is_across else columns)(blocks[at].items)]


def _runs_across(item: Item) -> bool:
    (left, top, right, bottom), _line = item
    return right - left >= _WIDE * (bottom - top)


def _thickness(item: Item, is_across: bool) -> float:
    (left, top, right, bottom), _line = item
    return bottom - top if is_across else right - left


def _around(items: Sequence[Item], part: Sequence[int]) -> Box:
    boxes = [items[at][0] for at in part]
    return min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)


def _parts(items: Sequence[Item], of: Sequence[int], is_across: bool) -> list[list[int]]:
    """Group lines of one direction that stand side by side, are as thick, and next to each other."""
    if not of:
        return []
    boxes = np.array([items[at][0] for at in of])
    along, across = ((0, 2), (1, 3)) if is_across else ((1, 3), (0, 2))
    begin, end = boxes[:, along[0]], boxes[:, along[1]]
    near, far = boxes[:, across[0]], boxes[:, across[1]]
    thick, length = far - near, end - begin
    overlap = np.minimum.outer(end, end) - np.maximum.outer(begin, begin)
    gap = np.maximum.outer(near, near) - np.minimum.outer(far, far)
    thicker = np.maximum.outer(thick, thick)
    joined = (overlap > _BESIDE * np.minimum.outer(length, length)) & (gap <= _APART * thicker)
    joined &= thicker <= _THICKER * np.minimum.outer(thick, thick)
    return [[of[at] for at in part] for part in _reached(joined)]


def _reached(joined: Table) -> list[list[int]]:
    left, parts = set(range(len(joined))), []
    while left:
        part, new = [], [left.pop()]
        while new:
            at = new.pop()
            part.append(at)
            found = [int(other) for other in np.nonzero(joined[at])[0] if int(other) in left]
            left.difference_update(found)
            new += found
        parts.append(sorted(part))
    return parts


def _with_cells(blocks: Sequence[_Block]) -> list[_Block]:
    """Put short parts that stand below the columns of a block, each below one, back to their columns."""
    kept = [block for block in blocks if block.is_across]
    for block in sorted((block for block in blocks if not block.is_across), key=lambda one: one.box[1]):
        at = next((at for at, above in enumerate(kept) if _are_cells(above, block)), None)
        if at is None:
            kept.append(block)
        else:
            items = [*kept[at].items, *block.items]
            kept[at] = _Block(items, _around(items, range(len(items))), False)
    return kept


def _are_cells(above: _Block, block: _Block) -> bool:
    if above.is_across or len(block.items) < _LEAST_CELLS or block.box[1] < above.box[3] - block.thickness:
        return False
    if any(box[3] - box[1] >= _SHORT * block.thickness for box, _line in block.items):
        return False
    middles = np.array([(box[0] + box[2]) / 2 for box, _line in above.items])
    near = [np.abs(middles - (box[0] + box[2]) / 2).min() for box, _line in block.items]
    aligned = sum(1 for distance in near if distance <= _SAME_COLUMN * block.thickness)
    return aligned >= _ALIGNED * len(block.items)


def _order(blocks: Sequence[_Block]) -> list[int]:
    before = _before(blocks)
    left, order = list(range(len(blocks))), []
    while left:
        waiting = before[np.ix_(left, left)].sum(0)
        first = min(range(len(left)), key=lambda at: (waiting[at], blocks[left[at]].box[1], -blocks[left[at]].box[2]))
        order.append(left.pop(first))
    return order


def _before(blocks: Sequence[_Block]) -> Table:
    """Which block comes before which: the right one of two side by side, else the upper one.

    Of two that a third one stands between, beside both, neither is said to be first: the third one decides.
    """
    boxes = np.array([block.box for block in blocks])
    left, top, right, bottom = boxes.T
    is_across = np.array([block.is_across for block in blocks])
    high = bottom - top
    shared = np.minimum.outer(bottom, bottom) - np.maximum.outer(top, top)
    beside = shared > _BESIDE * np.minimum.outer(high, high)
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    further_right = np.greater.outer(middle_x, middle_x)
    first = np.where(np.logical_and.outer(is_across, is_across), further_right.T, further_right)
    upper = np.less.outer(middle_y, middle_y)
    found = beside & first
    for at in range(len(blocks)):
        begin, end = np.minimum(right[at], right), np.maximum(left[at], left)
        between = (middle_x[:, None] > begin) & (middle_x[:, None] < end) & beside[at][:, None] & beside
        found[at] |= ~beside[at] & upper[at] & ~between.any(0)
    np.fill_diagonal(found, False)
    return np.asarray(found, np.bool_)
