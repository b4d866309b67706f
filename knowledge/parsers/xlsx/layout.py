"""Cut a sheet into tables and text, also where cells are used as graph paper (Excel方眼紙)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from knowledge.parsers.table_head import column_names
from knowledge.parsers.xlsx.region import Place, Region, Row
from knowledge.parsers.xlsx.sides import side_by_side

_MIN_DENSITY = 0.45
_MAX_TABLE_COLUMNS = 60
_MAX_HEAD_ROWS = 5


def regions(cells: Mapping[Place, str], merged: Mapping[Place, Place]) -> Iterator[Region]:
    """Cut the cells of a sheet at empty rows and between tables side by side, then part lead-in lines from the tables
    that they stand above.
    """
    for rows in _runs(cells, merged):
        sides = side_by_side(rows, merged)
        for side in sides:
            yield from regions(side, merged)
        if not sides:
            yield from _regions_of_run(rows, merged)


def _regions_of_run(rows: list[Row], merged: Mapping[Place, Place]) -> Iterator[Region]:
    body = 0
    while body < len(rows) and len(rows[body].cells) == 1:
        body += 1
    if not _is_table(rows[body:]):
        yield from _stretches(rows, merged)
        return
    if body:
        yield Region(rows=tuple(rows[:body]), table=False)
    yield _table(rows[body:], merged)


def _table(rows: Sequence[Row], merged: Mapping[Place, Place]) -> Region:
    head_rows, names = column_names(_possible_head(rows, merged))
    return Region(rows=tuple(rows), table=True, head_rows=head_rows, names=names)


def _possible_head(rows: Sequence[Row], merged: Mapping[Place, Place]) -> list[dict[int, tuple[str, int]]]:
    """Give the first rows with their empty cells: the places that no merged cell with text reaches."""
    columns = sorted({column for row in rows for column in row.cells})
    reached: dict[int, int] = {}
    found: list[dict[int, tuple[str, int]]] = []
    for row in rows[:_MAX_HEAD_ROWS]:
        cells: dict[int, tuple[str, int]] = {}
        for column, text in sorted(row.cells.items()):
            last_row, last = merged.get((row.number, column), (row.number, column))
            cells[column] = text, last
            reached |= {covered: last_row for covered in columns if column <= covered <= last}
        free = (column for column in columns if reached.get(column, 0) < row.number)
        found.append(cells | {column: ("", column) for column in free})
    return found


def _runs(cells: Mapping[Place, str], merged: Mapping[Place, Place]) -> Iterator[list[Row]]:
    """Yield runs of rows without an empty row between; rows below a merged cell are not empty."""
    run: list[Row] = []
    for row in _rows(cells, merged):
        if run and row.number > max(above.last for above in run[-2:]) + 1:
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def _rows(cells: Mapping[Place, str], merged: Mapping[Place, Place]) -> Iterator[Row]:
    by_row: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for (number, column), text in cells.items():
        by_row[number][column] = text
    for number in sorted(by_row):
        ends = (merged.get((number, column), (number, column))[0] for column in by_row[number])
        yield Row(number=number, last=max(ends), cells=by_row[number])


def _is_table(rows: list[Row]) -> bool:
    """Judge whether two rows or more share columns; steps of single cells are indented text, not a table."""
    columns = {column for row in rows for column in row.cells}
    if len(rows) < 2 or not 2 <= len(columns) <= _MAX_TABLE_COLUMNS:
        return False
    if 2 * sum(1 for row in rows if len(row.cells) > 1) <= len(rows) and len(columns) < 4:
        return False
    filled = sum(len(row.cells) for row in rows)
    return filled >= _MIN_DENSITY * len(rows) * len(columns)


def _stretches(rows: list[Row], merged: Mapping[Place, Place]) -> Iterator[Region]:
    """Part a run whose columns don't agree into stretches that do: each is a table or plain lines."""
    stretch: list[Row] = []
    for row in rows:
        if stretch and not _continues(stretch[0], row):
            yield _stretch(stretch, merged)
            stretch = []
        stretch.append(row)
    if stretch:
        yield _stretch(stretch, merged)


def _stretch(rows: list[Row], merged: Mapping[Place, Place]) -> Region:
    return _table(rows, merged) if _is_table(rows) else Region(rows=tuple(rows), table=False)


def _continues(head: Row, row: Row) -> bool:
    """Tell whether a row belongs to the stretch under ``head``: text goes with text, table rows share columns."""
    if len(head.cells) == 1:
        return len(row.cells) == 1
    return len(row.cells) > 1 and len(row.cells.keys() & head.cells.keys()) * 2 >= len(row.cells)
