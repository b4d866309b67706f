"""The order of a page of vertical text: its regions, and in each the blocks, from the right and from above."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np
from numpy.typing import NDArray

from knowledge.parsers.ocr.cells import Box, Item, are_cells, hosts_of, rows_of_cells
from knowledge.parsers.ocr.rules import Rules
from knowledge.parsers.ocr.tiers import edge_of_tiers, goes_over, is_between

Arrange = Callable[[Sequence[Item]], list[Item]]
Table = NDArray[np.bool_]
Strip = tuple[float, float]

_WIDE = 1.5
# How wide a strip without text is, in thicknesses of a column, that parts a page from side to side, and from top to
# bottom, and how often that is done.
_LEVEL, _STRIP, _DEEPEST = 0.4, 0.5, 12
# How much thicker than its neighbours in a block a line may be, how far from them in thicknesses, and how much of the
# shorter of two lies beside the longer.
_THICKER, _APART, _BESIDE = 1.35, 1.2, 0.3
# More lines or blocks than a page of text has are specks, which have no order; each is compared with each.
_MOST_LINES, _MOST_BLOCKS = 1500, 200


@dataclass(frozen=True, slots=True)
class _Block:
    items: list[Item]
    is_across: bool

    @property
    def box(self) -> Box:
        return around(self.items)

    @property
    def thickness(self) -> float:
        sizes = sorted(_thickness(item, self.is_across) for item in self.items)
        return sizes[len(sizes) // 2]


def around(items: Sequence[Item]) -> Box:
    """The box around all lines."""
    lefts, tops, rights, bottoms = zip(*(box for box, _line in items), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def by_regions(items: Sequence[Item], rules: Rules, *, columns: Arrange, rows: Arrange) -> list[Item]:
    """Order the lines of a page of vertical text.

    ``columns`` arranges the columns of one block from the right, ``rows`` lines that run across. The page is parted at
    rules that go from one side to the other, else at the widest strip without text from side to side, else from top to
    bottom where the tiers of one side do not go on at the other, and each part again; the blocks of what can't be
    parted are put in order.
    """
    if len(items) > _MOST_LINES:
        return columns(items)
    parts = _regions(items, rules, depth=0)
    return [item for part in parts for item in _by_blocks(part, columns=columns, rows=rows)]


def _regions(items: Sequence[Item], rules: Rules, *, depth: int) -> Iterator[Sequence[Item]]:
    parts = _parted(items, rules) if depth < _DEEPEST else [items]
    if len(parts) == 1:
        yield items
    else:
        for part in parts:
            yield from _regions(part, rules, depth=depth + 1)


def _column_thickness(items: Sequence[Item]) -> float:
    """The thickness of most columns; 0 where there are none."""
    found = sorted(box[2] - box[0] for box, line in items if line.is_vertical)
    return found[len(found) // 2] if found else 0.0


def _parted(items: Sequence[Item], rules: Rules) -> list[Sequence[Item]]:
    """The upper and the lower part, else parts from the right; all as one where nothing parts them.

    What stands below columns as their cells stays with them.
    """
    thickness = _column_thickness(items)
    if not thickness:
        return [items]
    for axis in (1, 0):
        for at in rules.crossing(axis, around(items)):
            first, second = _beside(items, axis, at, thickness)
            if first and second:
                return [first, second] if axis else [second, first]
    for begin, end in strips(items, 1, _LEVEL * thickness):
        upper, lower = [one for one in items if one[0][3] <= begin], [one for one in items if one[0][1] >= end]
        if not are_cells(upper, lower, thickness):
            return [upper, lower]
    return _close_tiers(items, thickness) or _from_the_right(items, thickness)


def _close_tiers(items: Sequence[Item], thickness: float) -> list[Sequence[Item]]:
    """The upper and the lower tier that touch, after and before what stands beside both; nothing where none do."""
    columns = [box for box, line in items if line.is_vertical]
    edge = edge_of_tiers(columns, thickness)
    if edge is None:
        return []
    inner = [box for box in columns if not goes_over(box, edge, thickness)]
    reached = max(box[3] for box in inner if box[1] + box[3] < 2 * edge)
    over = [box for box in columns if goes_over(box, edge, thickness)]
    if edge - reached >= _LEVEL * thickness:
        return []
    middle = (min(box[0] for box in inner) + max(box[2] for box in inner)) / 2
    parts: dict[str, list[Item]] = {"right": [], "upper": [], "lower": [], "left": []}
    for box, line in items:
        if box in over and is_between(box, inner):
            side = "upper"  # it begins there
        elif box in over:
            side = "right" if box[0] + box[2] > 2 * middle else "left"
        else:
            side = "upper" if box[1] + box[3] < 2 * edge else "lower"
        parts[side].append((box, line))
    return [part for part in parts.values() if part]


def _beside(items: Sequence[Item], axis: int, at: float, thickness: float) -> tuple[list[Item], list[Item]]:
    """What is before and what is behind a rule; nothing where a line goes on through it."""
    if any(box[axis] + thickness < at < box[axis + 2] - thickness for box, _line in items):
        return [], []
    before = [item for item in items if item[0][axis] + item[0][axis + 2] < 2 * at]
    return before, [item for item in items if item[0][axis] + item[0][axis + 2] >= 2 * at]


def _from_the_right(items: Sequence[Item], thickness: float) -> list[Sequence[Item]]:
    """Part where tiers begin or end: what lies between strips from top to bottom stays with what has the same tiers."""
    parts: list[Sequence[Item]] = []
    edges = sorted(begin for begin, _end in strips(items, 0, _STRIP * thickness))
    for begin, end in reversed(list(pairwise([-inf, *edges, inf]))):
        found = [one for one in items if begin < one[0][2] <= end]
        if parts and _have_same_tiers(parts[-1], found, _LEVEL * thickness):
            parts[-1] = [*parts[-1], *found]
        else:
            parts.append(found)
    return parts


def _have_same_tiers(right: Sequence[Item], left: Sequence[Item], least: float) -> bool:
    return bool(strips([*right, *left], 1, least)) or not (strips(right, 1, least) or strips(left, 1, least))


def strips(items: Sequence[Item], axis: int, least: float) -> list[Strip]:
    """From where to where along x (0) or y (1) there is no text, the widest first, where that is wide enough."""
    edges = sorted((box[axis], box[axis + 2]) for box, _line in items)
    end = edges[0][1]
    found: list[Strip] = []
    for start, stop in edges[1:]:
        if start - end >= least:
            found.append((end, start))
        end = max(end, stop)
    return sorted(found, key=lambda strip: strip[0] - strip[1])


def _by_blocks(items: Sequence[Item], *, columns: Arrange, rows: Arrange) -> list[Item]:
    """Order lines by their blocks: what stands side by side in type of one size.

    So a heading between tiers parts them and belongs to neither.
    """
    thickness = _column_thickness(items)
    if not thickness:
        return rows(items)
    blocks = [
        _Block([items[at] for at in part], is_across)
        for is_across in (False, True)
        for part in _parts(items, [at for at, item in enumerate(items) if _runs_across(item) == is_across], is_across)
    ]
    blocks = _without_inner(_with_cells(blocks, thickness))
    if len(blocks) > _MOST_BLOCKS:
        return columns(items)
    return [item for at in _order(blocks) for item in (rows if blocks[at].is_across else columns)(blocks[at].items)]


def _runs_across(item: Item) -> bool:
    (left, top, right, bottom), _line = item
    return right - left >= _WIDE * (bottom - top)


def _thickness(item: Item, is_across: bool) -> float:
    (left, top, right, bottom), _line = item
    return bottom - top if is_across else right - left


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


def _with_cells(blocks: Sequence[_Block], thickness: float) -> list[_Block]:
    """Put short parts that stand in a row below columns, each below one, back to their columns."""
    kept = [block.items for block in blocks if not block.is_across]
    across = [block.items for block in blocks if block.is_across]
    for cells in rows_of_cells([*kept, *across], thickness):
        others = [[one for one in items if one not in cells] for items in kept]
        hosts = hosts_of(cells, others, thickness)
        if hosts:
            across = [[one for one in items if one not in cells] for items in across]
            kept = others
            for cell, host in hosts:
                kept[host].append(cell)
    return [_Block(items, is_across) for of, is_across in ((kept, False), (across, True)) for items in of if items]


def _without_inner(blocks: Sequence[_Block]) -> list[_Block]:
    """Put single columns, such as a name far below a date, back to the block in whose box they stand."""
    kept = [block for block in blocks if block.is_across or not _is_one_column(block)]
    for block in blocks:
        if block.is_across or not _is_one_column(block):
            continue
        around = next((one for one in kept if not one.is_across and _is_within(block, one)), None)
        if around is None:
            kept.append(block)
        else:
            around.items.extend(block.items)
    return kept


def _is_one_column(block: _Block) -> bool:
    left, _top, right, _bottom = block.box
    return right - left < _WIDE * block.thickness


def _is_within(block: _Block, around: _Block) -> bool:
    (left, top, right, bottom), outer = block.box, around.box
    thin, thick = sorted((block.thickness, around.thickness))
    is_across_it = outer[0] <= (left + right) / 2 <= outer[2]
    return thick <= _THICKER * thin and is_across_it and outer[1] <= top and bottom <= outer[3]


def _order(blocks: Sequence[_Block]) -> list[int]:
    before = _before(blocks)
    boxes = [block.box for block in blocks]
    left, order = list(range(len(blocks))), []
    while left:
        waiting = before[np.ix_(left, left)].sum(0)
        first = min(range(len(left)), key=lambda at: (waiting[at], boxes[left[at]][1], -boxes[left[at]][2]))
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
