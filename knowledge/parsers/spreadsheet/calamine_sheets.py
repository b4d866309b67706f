"""Values of xls and xlsb workbooks by calamine, shown in the way that the workbook's own records say."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from python_calamine import CalamineSheet, CalamineWorkbook, SheetVisibleEnum

from knowledge.parsers.errors import parse_error
from knowledge.parsers.ooxml.number_formats import EPOCH_1900, EPOCH_1904, NumberFormats
from knowledge.parsers.xlsx.reader import Sheet

_SECONDS_PER_DAY = 86_400
# As the Range that calamine makes of a sheet holds a value for each place of its smallest rectangle.
_MOST_PLACES = 20_000_000
# Source: [MS-XLS] 2.5.10, Bes, and the same in [MS-XLSB] 2.5.97.2; calamine refuses a workbook with others.
ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}

Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta


@dataclass(slots=True, kw_only=True)
class SheetRecords:
    """How a sheet's cells are shown, by (row, column) from 1: ``styles`` are indices of number formats.

    ``texts`` are results of formulas that calamine takes for the number 0; ``errors`` are shown without a format, and
    calamine has nothing in their cells.
    """

    styles: dict[tuple[int, int], int] = field(default_factory=dict)
    texts: dict[tuple[int, int], str] = field(default_factory=dict)
    errors: dict[tuple[int, int], str] = field(default_factory=dict)
    merged: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)

    def hides(self, row: int, column: int) -> bool:
        return row in self.hidden_rows or any(first <= column <= last for first, last in self.hidden_columns)


@dataclass(slots=True, kw_only=True)
class WorkbookRecords:
    """What a workbook says beside its values; ``sheets`` only where its reader has the values as well."""

    formats: NumberFormats
    date_1904: bool = False
    by_sheet: dict[str, SheetRecords] = field(default_factory=dict)
    sheets: list[Sheet] = field(default_factory=list)
    hidden_sheets: int = 0
    hidden_cells: int = 0
    comments: int = 0
    drawings: int = 0


def sheets_with(path: Path, records: WorkbookRecords, *, max_cells: int) -> Iterator[Sheet]:
    """Yield the visible sheets in workbook order; what is hidden is counted in ``records``.

    :raises ParseError: ``too_many_cells``. :raises CalamineError: a damaged file.
    """
    left = max_cells
    with CalamineWorkbook.from_path(path) as book:
        for number, known in enumerate(book.sheets_metadata):
            if known.visible is not SheetVisibleEnum.Visible:
                records.hidden_sheets += 1
                continue
            found = book.get_sheet_by_index(number)
            of_sheet = records.by_sheet.get(known.name, SheetRecords())
            sheet = Sheet(name=known.name, merged=_merged(found, of_sheet))
            left -= _take_cells(found, sheet, records, of_sheet, left, max_cells)
            yield sheet


def _merged(found: CalamineSheet, of_sheet: SheetRecords) -> dict[tuple[int, int], tuple[int, int]]:
    ranges = found.merged_cell_ranges
    if ranges is None:
        return of_sheet.merged
    return {(first[0] + 1, first[1] + 1): (last[0] + 1, last[1] + 1) for first, last in ranges if first != last}


def _take_cells(
    found: CalamineSheet, sheet: Sheet, records: WorkbookRecords, of_sheet: SheetRecords, left: int, limit: int
) -> int:
    """Put a sheet's shown cells where they belong; gives how many cells have a value."""
    filled = 0
    if found.start is None:
        return 0
    if found.height * found.width > _MOST_PLACES:
        raise parse_error("too_many_cells", limit=f"{limit:,}")
    # ``iter_rows`` starts with the first row of the sheet and the first column that has something.
    start_column = found.start[1]
    for row, values in enumerate(found.to_python(skip_empty_area=True), found.start[0] + 1):
        for column, value in enumerate(values, start_column + 1):
            place = row, column
            error, value = of_sheet.errors.get(place), of_sheet.texts.get(place, value)
            if value == "" and error is None:
                continue
            filled += 1
            if filled > left:
                raise parse_error("too_many_cells", limit=f"{limit:,}")
            if of_sheet.hides(row, column):
                records.hidden_cells += 1
            elif text := error or _shown(value, of_sheet.styles.get(place, 0), records).strip():
                sheet.cells[place] = text
    return filled


def _shown(value: Value, style: int, records: WorkbookRecords) -> str:
    if isinstance(value, str):
        return records.formats.display_text(value, style)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    number = value if isinstance(value, int | float) else _serial_number(value, date_1904=records.date_1904)
    return records.formats.display(repr(float(number)), style)


def _serial_number(value: datetime.time | datetime.date | datetime.timedelta, *, date_1904: bool) -> float:
    """Give the number that stands for a moment in a workbook: days since its calendar's start."""
    if isinstance(value, datetime.timedelta):
        return value.total_seconds() / _SECONDS_PER_DAY
    if isinstance(value, datetime.time):
        seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
        return seconds / _SECONDS_PER_DAY
    moment = value if isinstance(value, datetime.datetime) else datetime.datetime.combine(value, datetime.time())
    return (moment - (EPOCH_1904 if date_1904 else EPOCH_1900)).total_seconds() / _SECONDS_PER_DAY
