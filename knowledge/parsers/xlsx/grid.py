"""A part of a sheet as its cells stand. Run in parser children."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from knowledge.parsers.csv_table import column_name
from knowledge.parsers.errors import parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.pictures import PictureIntake
from knowledge.parsers.xlsx.reader import Sheet, WorkbookReader

MOST_COLUMNS = 60
MOST_CHARS = 500


def show_cells(
    path: Path, *, limits: ParseLimits, folder: Path, filename: str, sheet: str, first_row: int, last_row: int
) -> str:
    """Give the rows of a sheet from ``first_row`` to ``last_row`` with all columns that have something there.

    A JSON object: ``columns`` as [name, width in characters or null], ``rows`` as [number, cells], a cell as
    [column from 1, text, columns that it spans, rows that it spans]; ``is_cut`` when there are more columns.

    :raises ParseError: as reading a workbook; ``sheet_not_found``.
    """
    reader = WorkbookReader(path, PictureIntake(limits), max_cells=limits.max_cells)
    found = next((one for one in reader.sheets() if one.name == sheet), None)
    if found is None:
        raise parse_error("sheet_not_found", sheet=sheet)
    return json.dumps(_window(found, first_row, last_row), ensure_ascii=False)


def _window(sheet: Sheet, first_row: int, last_row: int) -> dict[str, Any]:
    texts = {place: text for place, text in sheet.cells.items() if first_row <= place[0] <= last_row}
    merged = {place: last for place, last in sheet.merged.items() if place[0] <= last_row and last[0] >= first_row}
    ends = [column for _row, column in texts] + [last[1] for place, last in merged.items() if place in texts]
    widest = max(ends, default=1)
    shown = min(widest, MOST_COLUMNS)
    covered = {
        (row, column)
        for place, last in merged.items()
        for row in range(max(place[0], first_row), min(last[0], last_row) + 1)
        for column in range(place[1], min(last[1], shown) + 1)
        if (row, column) != place
    }
    rows = []
    for row in range(first_row, last_row + 1):
        cells = []
        for column in range(1, shown + 1):
            if (row, column) in covered:
                continue
            last = merged.get((row, column), (row, column))
            text = sheet.cells.get((row, column), "")[:MOST_CHARS]
            spans = (min(last[1], shown) - column + 1, min(last[0], last_row) - row + 1)
            cells.append([column, text, *spans])
        rows.append([row, cells])
    columns = [[column_name(number), sheet.widths.get(number)] for number in range(1, shown + 1)]
    return {"columns": columns, "rows": rows, "is_cut": widest > shown}
