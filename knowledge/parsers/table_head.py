"""Heads of tables in several rows: what stands above a column, from the top down, becomes its one name.

Markdown knows one head row only, and it is that row which every passage of a long table repeats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_MAX_HEAD_ROWS = 4
_SEPARATOR = " / "

HeadRow = Mapping[int, tuple[str, int]]
"""The texts of a row by the column where each cell starts, with the last column that the cell reaches."""


def column_names(rows: Sequence[HeadRow]) -> tuple[int, dict[int, str]]:
    """Return how many rows the head takes and the name of each column in it; 0 rows when one row alone is the head.

    A row belongs to the head when each of its cells stands below one that spans several of them, and some cell of the
    head reaches down beside them: a first row of data has cells below all. So must empty cells be given, with ``""``.

    >>> column_names([{0: ("ID", 0), 1: ("権限", 2)}, {1: ("職員", 1), 2: ("市民", 2)}, {0: ("F-1", 0), 1: ("○", 1)}])
    (2, {0: 'ID', 1: '権限 / 職員', 2: '権限 / 市民'})
    """
    count = 1
    lowest = dict(rows[0]) if rows else {}
    while count < min(_MAX_HEAD_ROWS, len(rows) - 1) and (parted := _parted(lowest, rows[count])):
        lowest = {start: cell for start, cell in lowest.items() if start not in parted} | dict(rows[count])
        count += 1
    if count == 1:
        return 0, {}
    head = rows[:count]
    columns = sorted({column for row in head for column in row})
    return count, {column: _name(head, column) for column in columns}


def _parted(above: HeadRow, row: HeadRow) -> set[int]:
    """Return where the cells start that a row parts into several; empty when it goes on with no head."""
    below: dict[int, int] = {}
    for column in row:
        start = _over(above, column)
        if start is None:
            return set()
        below[start] = below.get(start, 0) + 1
    goes_on = bool(below) and min(below.values()) > 1 and len(below) < len(above)
    return set(below) if goes_on else set()


def _over(row: HeadRow, column: int) -> int | None:
    """Return where the cell of a row starts that reaches over a column."""
    return next((start for start, (_, last) in row.items() if start <= column <= last), None)


def _name(head: Sequence[HeadRow], column: int) -> str:
    starts = [(row, _over(row, column)) for row in head]
    texts = [row[start][0].strip() for row, start in starts if start is not None]
    return _SEPARATOR.join(dict.fromkeys(text for text in texts if text))
