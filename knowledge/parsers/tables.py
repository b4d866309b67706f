"""Tables that people edit and bring back (check masters, answers, guidelines, evaluation cases), as plain cells.

The file is opened in a guarded child like any document; callers get values and know no library of spreadsheets.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.parsers.archives import check_archive
from knowledge.parsers.encoding import decode_text
from knowledge.parsers.errors import corrupted, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.isolation import HostLost, Result, as_it_is, run_on_bytes

_MB = 1024 * 1024
# Somebody waits for the answer, and what people fill in by hand is small: the largest shipped master has 90 KB.
LIMITS = ParseLimits(
    wall_s=60,
    cpu_s=30,
    memory_bytes=1024 * _MB,
    max_input_bytes=20 * _MB,
    max_expanded_bytes=100 * _MB,
    max_cells=500_000,
    max_output_bytes=64 * _MB,
)
_TASKS = "knowledge.parsers.tables"
_TIMES = {kind.__name__: kind for kind in (datetime.datetime, datetime.date, datetime.time)}

Cell = str | int | float | bool | datetime.datetime | datetime.date | datetime.time | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One sheet: ``rows`` from the first on, each as wide as it was written; trailing empty rows are left out.

    ``merged`` are areas of one value as (first row, first column, last row, last column), from 1; asked for only.
    """

    title: str
    is_visible: bool
    rows: tuple[tuple[Cell, ...], ...]
    merged: tuple[tuple[int, int, int, int], ...] = ()


def read_workbook(
    content: bytes, *, max_rows: int, max_columns: int, with_merged: bool = False, limits: ParseLimits = LIMITS
) -> tuple[Sheet, ...]:
    """Read every worksheet of an .xlsx file in a child process; formulas count by their last value.

    Columns beyond ``max_columns`` are left out.

    :raises ParseError: it is no workbook, is protected, passes a limit of size, expansion, cells, time or memory, has
        more than ``max_rows`` rows, or reading was interrupted (``reader_lost``).
    """
    arguments = {"max_rows": max_rows, "max_columns": max_columns, "with_merged": with_merged}
    return _run("read_workbook_file", content, _sheets, "table.xlsx", limits, arguments)


def read_csv(content: bytes, *, max_rows: int, max_columns: int, limits: ParseLimits = LIMITS) -> Sheet:
    """Read a CSV file of any encoding in a child process; every cell is a text. Errors as in `read_workbook`."""
    arguments = {"max_rows": max_rows, "max_columns": max_columns}
    (sheet,) = _run("read_csv_file", content, _sheets, "table.csv", limits, arguments)
    return sheet


def read_plain_text(content: bytes) -> str:
    return str(_run("read_text_file", content, as_it_is, "text.txt", LIMITS, {})["text"])


def _run(
    task: str,
    content: bytes,
    load: Callable[[dict[str, Any], Path], Result],
    filename: str,
    limits: ParseLimits,
    arguments: dict[str, Any],
) -> Result:
    limits.check_input(len(content))  # before it is written anywhere
    try:
        return run_on_bytes(f"{_TASKS}:{task}", content, load, filename=filename, limits=limits, arguments=arguments)
    except HostLost as error:
        raise parse_error("reader_lost") from error


def _sheets(result: dict[str, Any], _folder: Path) -> tuple[Sheet, ...]:
    return tuple(
        Sheet(
            title=str(sheet["title"]),
            is_visible=bool(sheet["is_visible"]),
            rows=tuple(tuple(_loaded(cell) for cell in row) for row in sheet["rows"]),
            merged=tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in sheet["merged"]),
        )
        for sheet in result["sheets"]
    )


def _loaded(cell: Any) -> Cell:  # noqa: ANN401 - JSON
    if isinstance(cell, dict):
        return _TIMES[cell["kind"]].fromisoformat(cell["value"])
    if cell is None or isinstance(cell, str | int | float):
        return cell
    raise ValueError("a cell is no plain value")


def prepare() -> None:
    """Load once what each child would load."""
    import openpyxl  # noqa: F401


def read_workbook_file(
    path: Path,
    *,
    limits: ParseLimits,
    folder: Path,
    filename: str,
    max_rows: int,
    max_columns: int,
    with_merged: bool,
) -> str:
    """The child's task of `read_workbook`."""
    from openpyxl import load_workbook  # the parent needs no such library
    from openpyxl.utils.exceptions import InvalidFileException

    limits.check_input(path.stat().st_size)
    check_archive(path, format_name="xlsx", limits=limits)
    try:
        book = load_workbook(path.open("rb"), read_only=not with_merged, data_only=True)
        left = limits.max_cells
        sheets = []
        for sheet in book.worksheets:
            lines = sheet.iter_rows(values_only=True, max_col=max_columns)
            rows, used = _rows(lines, sheet.title, max_rows=max_rows, max_cells=left, limit=limits.max_cells)
            left -= used
            merged = [
                [area.min_row, area.min_col, min(area.max_row, max_rows), min(area.max_col, max_columns)]
                for area in (sheet.merged_cells.ranges if with_merged else ())
            ]
            is_visible = sheet.sheet_state == "visible"
            sheets.append({"title": sheet.title, "is_visible": is_visible, "rows": rows, "merged": merged})
    # openpyxl has no error of its own for a broken workbook; its XML parser's is a SyntaxError.
    except (zipfile.BadZipFile, InvalidFileException, KeyError, ValueError, TypeError, OSError, SyntaxError) as error:
        raise corrupted("xlsx", type(error).__name__) from error
    return json.dumps({"sheets": sheets}, ensure_ascii=False)


def read_csv_file(
    path: Path,
    *,
    limits: ParseLimits,
    folder: Path,
    filename: str,
    max_rows: int,
    max_columns: int,
) -> str:
    """The child's task of `read_csv`."""
    limits.check_input(path.stat().st_size)
    lines = csv.reader(io.StringIO(decode_text(path.read_bytes()).text, newline=""))
    cut = (line[:max_columns] for line in lines)
    try:
        rows, _used = _rows(cut, filename, max_rows=max_rows, max_cells=limits.max_cells, limit=limits.max_cells)
    except csv.Error as error:
        raise corrupted("csv", "ValueError") from error
    sheet = {"title": filename, "is_visible": True, "rows": rows, "merged": []}
    return json.dumps({"sheets": [sheet]}, ensure_ascii=False)


def read_text_file(path: Path, *, limits: ParseLimits, folder: Path, filename: str) -> str:
    """The child's task of `read_plain_text`."""
    limits.check_input(path.stat().st_size)
    return json.dumps({"text": decode_text(path.read_bytes()).text}, ensure_ascii=False)


def _rows(
    lines: Iterator[Sequence[object]], title: str, *, max_rows: int, max_cells: int, limit: int
) -> tuple[list[list[object]], int]:
    """Rows up to the last that holds anything, and how many cells hold something."""
    rows: list[list[object]] = []
    used = 0
    for number, line in enumerate(lines, 1):
        filled = sum(cell not in (None, "") for cell in line)
        if not filled:
            continue
        used += filled
        if number > max_rows:
            raise parse_error("too_many_rows", sheet=title, limit=max_rows)
        if used > max_cells:
            raise parse_error("too_many_cells", limit=limit)
        rows.extend([] for _empty in range(number - 1 - len(rows)))
        rows.append([_dumped(cell) for cell in line])
    return rows, used


def _dumped(cell: object) -> object:
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return {"kind": type(cell).__name__, "value": cell.isoformat()}
    if cell is None or isinstance(cell, str | int | float):
        return cell
    return str(cell)
