"""Rows and regions of a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from knowledge.parsers.csv_table import column_name

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The texts of one row by column, and the last row that its vertically merged cells reach."""

    number: int
    last: int
    cells: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A run of rows of a sheet. ``table`` tells whether its cells line up in columns; ``cell`` is its range.

    ``names`` are those of the columns where the first ``head_rows`` rows are the head together.
    """

    rows: tuple[Row, ...]
    table: bool
    head_rows: int = 0
    names: Mapping[int, str] = field(default_factory=dict)

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

    @property
    def row_numbers(self) -> tuple[int, ...]:
        """The sheet's rows that the lines of a table come from; a head of several rows is one line."""
        numbers = [row.number for row in self.rows]
        return tuple(numbers[:1] + numbers[max(self.head_rows, 1) :])

    def grid(self) -> list[list[str]]:
        """Return the texts as equal rows over the used columns."""
        columns = self.columns
        head = [[self.names.get(column, "") for column in columns]] if self.head_rows else []
        return head + [[row.cells.get(column, "") for column in columns] for row in self.rows[self.head_rows :]]

    def lines(self) -> Iterator[str]:
        """Yield one line per row, its cells joined by a blank."""
        for row in self.rows:
            yield " ".join(" ".join(row.cells[column].split()) for column in sorted(row.cells))
