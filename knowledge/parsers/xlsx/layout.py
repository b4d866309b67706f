"""Cut a sheet into tables and text, also side by side and where cells are used as graph paper (Excel方眼紙)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from knowledge.parsers.csv_table import column_name
from knowledge.parsers.render import FROM_ABOVE, column_names

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The texts of one row by column, and the last row that its vertically merged cells reach."""

    number: int
    last: int
    cells: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A run of rows of a sheet. ``table`` says whether its cells line up in columns; ``cell`` is its range.

    ``names`` are those of the columns where the first ``head_rows`` rows are the head together. ``reached`` are the
    places in its rows that merged cells above them go on to.
    """

    rows: tuple[Row, ...]
    table: bool
    head_rows: int = 0
    names: Mapping[int, str] = field(default_factory=dict)
    reached: frozenset[Place] = frozenset()

    @property
    def columns(self) -> tuple[int, ...]:
        return tuple(sorted({column for row in self.rows for column in row.cells}))

    @property
    def cell(self) -> str:
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
        columns = self.columns
        head = [[self.names.get(column, "") for column in columns]] if self.head_rows else []
        return head + [[self._text(row, column) for column in columns] for row in self.rows[self.head_rows :]]

    def _text(self, row: Row, column: int) -> str:
        return row.cells.get(column, FROM_ABOVE if (row.number, column) in self.reached else "")

    def lines(self) -> Iterator[str]:
        """Yield one line per row, its cells joined by a blank."""
        for row in self.rows:
            yield " ".join(" ".join(row.cells[column].split()) for column in sorted(row.cells))


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
    cells = {(row.number, column): text for row in rows for column, text in row.cells.items()}
    sides = [
        {place: text for place, text in cells.items() if first <= place[1] <= last}
        for first, last in _blocks(rows, merged)
    ]
    if len(sides) < 2 or not all(map(_could_be_table, sides)):
        return []
    return sides if all(_is_apart(sides[0], side) for side in sides[1:]) else []


def _blocks(rows: Sequence[Row], merged: Mapping[Place, Place]) -> Iterator[tuple[int, int]]:
    spans = sorted({(column, merged.get((row.number, column), (0, column))[1]) for row in rows for column in row.cells})
    first, last = spans[0]
    for start, end in spans[1:]:
        if start > last + 1:
            yield first, last
            first = start
        last = max(last, end)
    yield first, last


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
    widths = Counter(row for row, _ in side)
    head = min((row for row, width in widths.items() if width > 1), default=None)
    return {text for (row, _), text in side.items() if row == head}


def _first_row_is_alone(side: Mapping[Place, str]) -> bool:
    top = min(row for row, _ in side)
    return sum(1 for row, _ in side if row == top) == 1


_MIN_DENSITY = 0.45
_MAX_TABLE_COLUMNS = 60
_MAX_HEAD_ROWS = 5
_MAX_LEAD_ROWS = 8
_LONGEST_NAME = 24
_FEWEST_NAMES = 3
_MIN_UNDER = 0.7


def regions(cells: Mapping[Place, str], merged: Mapping[Place, Place]) -> Iterator[Region]:
    """Cut the cells of a sheet at empty rows and between tables side by side, then part lead-in lines from the tables
    that they are above.
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
        head = _head_at(rows, merged)
        yield from _stretches(rows if head is None else rows[:head], merged)
        if head is not None:
            yield _table(rows[head:], merged)
        return
    if body:
        yield Region(rows=tuple(rows[:body]), table=False)
    yield _region(rows[body:], merged)


def _region(rows: Sequence[Row], merged: Mapping[Place, Place]) -> Region:
    return _table(rows, merged) if _is_table(rows) else Region(rows=tuple(rows), table=False)


def _table(rows: Sequence[Row], merged: Mapping[Place, Place]) -> Region:
    head_rows, names = column_names(_possible_head(rows, merged))
    reached = frozenset(_reached(rows, merged))
    return Region(rows=tuple(rows), table=True, head_rows=head_rows, names=names, reached=reached)


def _reached(rows: Sequence[Row], merged: Mapping[Place, Place]) -> Iterator[Place]:
    open_until: dict[int, int] = {}
    for row in rows:
        yield from ((row.number, column) for column, last in open_until.items() if row.number <= last)
        open_until |= {column: merged.get((row.number, column), (0, 0))[0] for column in row.cells}


def _head_at(rows: Sequence[Row], merged: Mapping[Place, Place]) -> int | None:
    """Return the row of names that all rows below it stand under, however many cells of theirs are empty.

    Forms on graph paper have labels too, but their rows don't line up below one of theirs.
    """
    for at, row in enumerate(rows[:_MAX_LEAD_ROWS]):
        below = rows[at + 1 :]
        if len(row.cells) < _MIN_COLUMNS or len(below) < _MIN_ROWS or not all(map(_is_name, row.cells.values())):
            continue
        if _stand_under(row, below, merged):
            return at
    return None


def _is_name(text: str) -> bool:
    """Whether a cell could name a column: short, with letters, no sentence."""
    shown = "".join(text.split())
    return len(shown) <= _LONGEST_NAME and "。" not in shown and any(map(str.isalpha, shown))


def _stand_under(head: Row, below: Sequence[Row], merged: Mapping[Place, Place]) -> bool:
    spans = [(column, merged.get((head.number, column), (0, column))[1]) for column in head.cells]
    under = [[column for column in row.cells if any(start <= column <= last for start, last in spans)] for row in below]
    cells = sum(len(row.cells) for row in below)
    if not all(under) or sum(len(columns) > 1 for columns in under) < _MIN_ROWS:
        return False
    if len(spans) < _FEWEST_NAMES:
        # Two names prove little: everything must begin right below them.
        return all(column in head.cells for row in below for column in row.cells) and len(below) > _MIN_ROWS
    aligned = sum(column in head.cells for columns in under for column in columns)
    is_parted = any(last > start for start, last in spans)
    return sum(map(len, under)) >= _MIN_UNDER * cells and (is_parted or aligned >= _MIN_UNDER * cells)


def _possible_head(rows: Sequence[Row], merged: Mapping[Place, Place]) -> list[dict[int, tuple[str, int]]]:
    """Return the first rows with their empty cells: the places that no merged cell with text reaches."""
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


def _is_table(rows: Sequence[Row]) -> bool:
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
            yield _region(stretch, merged)
            stretch = []
        stretch.append(row)
    if stretch:
        yield _region(stretch, merged)


def _continues(head: Row, row: Row) -> bool:
    """Return whether a row belongs to the stretch under ``head``: text goes with text, table rows share columns."""
    if len(head.cells) == 1:
        return len(row.cells) == 1
    return len(row.cells) > 1 and len(row.cells.keys() & head.cells.keys()) * 2 >= len(row.cells)
