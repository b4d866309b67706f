"""Cut a sheet into tables and text, also where cells are used as graph paper (Excel方眼紙)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from knowledge.backends.parsers.csv_table import column_name

_MIN_DENSITY = 0.45
_MAX_TABLE_COLUMNS = 60

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The texts of one row by column, and the last row that its vertically merged cells reach."""

    number: int
    last: int
    cells: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A run of rows of a sheet. ``table`` tells whether its cells line up in columns; ``cell`` is its range."""

    rows: tuple[Row, ...]
    table: bool

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns with any text, ascending, from 1."""
        return tuple(sorted({column for row in self.rows for column in row.cells}))

    @property
    def cell(self) -> str:
        """The range in A1 notation."""
        columns = self.columns
        first = f"{column_name(columns[0])}{self.rows[0].number}"
        last = f"{column_name(columns[-1])}{self.rows[-1].number}"
        return first if first == last else f"{first}:{last}"

    def grid(self) -> list[list[str]]:
        """Return the texts as equal rows over the used columns."""
        columns = self.columns
        return [[row.cells.get(column, "") for column in columns] for row in self.rows]

    def lines(self) -> Iterator[str]:
        """Yield one line per row, its cells joined by a blank."""
        for row in self.rows:
            yield " ".join(" ".join(row.cells[column].split()) for column in sorted(row.cells))


def regions(cells: Mapping[Place, str], merged: Mapping[Place, Place]) -> Iterator[Region]:
    """Cut the cells of a sheet at empty rows, then part lead-in lines from the tables that they stand above."""
    for rows in _runs(cells, merged):
        body = 0
        while body < len(rows) and len(rows[body].cells) == 1:
            body += 1
        if not _is_table(rows[body:]):
            yield from _stretches(rows)
            continue
        if body:
            yield Region(rows=tuple(rows[:body]), table=False)
        yield Region(rows=tuple(rows[body:]), table=True)


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


def _stretches(rows: list[Row]) -> Iterator[Region]:
    """Part a run whose columns don't agree into stretches that do: each is a table or plain lines."""
    stretch: list[Row] = []
    for row in rows:
        if stretch and not _continues(stretch[0], row):
            yield Region(rows=tuple(stretch), table=_is_table(stretch))
            stretch = []
        stretch.append(row)
    if stretch:
        yield Region(rows=tuple(stretch), table=_is_table(stretch))


def _continues(head: Row, row: Row) -> bool:
    """Tell whether a row belongs to the stretch under ``head``: text goes with text, table rows share columns."""
    if len(head.cells) == 1:
        return len(row.cells) == 1
    return len(row.cells) > 1 and len(row.cells.keys() & head.cells.keys()) * 2 >= len(row.cells)
