"""Tables without rules: lines one below the other whose parts stand in the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from knowledge.parsers.pdf.page import Line

_MIN_COLUMNS = 3
_MIN_ROWS = 3
# In font sizes: how far apart the edges or middles of a column's cells are at most, and lines below each other.
_ALIGNED = 1.0
_MAX_PITCH = 3.5


def grids(lines: Sequence[Line]) -> Iterator[tuple[list[Line], bool]]:
    """Yield the lines in stretches, in order, and whether each is a table.

    Two parts to a line are no proof: an item and its text have as many.
    """
    rest: list[Line] = []
    run: list[Line] = []
    for line in lines:
        if run and not _continues(run, line):
            yield from _ended(rest, run)
            rest, run = ([], []) if len(run) >= _MIN_ROWS else (rest + run, [])
        if len(line.parts) >= _MIN_COLUMNS:
            run.append(line)
        else:
            rest.append(line)
    yield from _ended(rest, run)
    if len(run) < _MIN_ROWS and rest + run:
        yield rest + run, False


def _ended(rest: list[Line], run: list[Line]) -> Iterator[tuple[list[Line], bool]]:
    if len(run) >= _MIN_ROWS:
        if rest:
            yield rest, False
        yield run, True


def _continues(run: Sequence[Line], line: Line) -> bool:
    above = run[-1]
    near = 0 < line.bottom - above.bottom <= _MAX_PITCH * line.size
    if not near or len(line.parts) != len(above.parts):
        return False
    return all(_in_column(run, index, line) for index in range(len(line.parts))) and _apart([*run, line])


def _in_column(run: Sequence[Line], index: int, line: Line) -> bool:
    """Tell whether a part lines up with those above at the left, at the right or in the middle.

    The first line may be the head, which is often set otherwise.
    """
    part, limit = line.parts[index], _ALIGNED * line.size
    others = [other.parts[index] for other in run[1:]]
    return any(
        all(abs(place(part.left, part.right) - place(other.left, other.right)) <= limit for other in others)
        for place in (_left, _right, _middle)
    )


def _left(left: float, right: float) -> float:
    return left


def _right(left: float, right: float) -> float:
    return right


def _middle(left: float, right: float) -> float:
    return (left + right) / 2


def _apart(rows: Sequence[Line]) -> bool:
    """Tell whether no cell reaches into the next column."""
    columns = list(zip(*(row.parts for row in rows), strict=True))
    return all(max(cell.right for cell in one) < min(cell.left for cell in other) for one, other in pairwise(columns))
