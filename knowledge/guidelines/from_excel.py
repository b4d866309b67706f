"""A guideline as an Excel sheet: one article per row under a header row."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from knowledge.guidelines.drafts import ImportProblem, ParsedGuideline
from knowledge.guidelines.fields import NAMES, article_from, field_named

MAX_ROWS = 5_000
MAX_COLUMNS = 50
MAX_UNPACKED_BYTES = 100_000_000
HEADER_WITHIN = 20

Row = tuple[int, tuple[str, ...]]


def read_excel(content: bytes) -> ParsedGuideline:
    """Read the first sheet that has a header with a number and a title column. Formulas count by their last value."""
    try:
        if _unpacked_size(content) > MAX_UNPACKED_BYTES:
            return _refused(_("The workbook is too large once unpacked."))
        workbook = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = [list(_rows(sheet.iter_rows(max_row=MAX_ROWS, max_col=MAX_COLUMNS))) for sheet in workbook.worksheets]
        workbook.close()
    except (zipfile.BadZipFile, InvalidFileException, KeyError, ValueError, OSError, SyntaxError):
        # openpyxl has no error of its own for a broken workbook; its XML parser's is a SyntaxError.
        return _refused(_("The file is not an Excel workbook that can be read (.xlsx is needed)."))
    for rows in sheets:
        if (header := _header(rows)) is not None:
            return _articles(rows, *header)
    return _refused(
        _("No sheet has a header row with the columns {number} and {title}.").format(
            number=NAMES["number"][0], title=NAMES["title"][0]
        )
    )


def _refused(message: str) -> ParsedGuideline:
    return ParsedGuideline(articles=(), problems=(ImportProblem(row=1, message=message),))


def _unpacked_size(content: bytes) -> int:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def _rows(cells: Iterator[Sequence[object]]) -> Iterator[Row]:
    for number, row in enumerate(cells, start=1):
        values = tuple(_text(getattr(cell, "value", None)) for cell in row)
        if any(values):
            yield number, values


def _text(value: object) -> str:
    """A cell as text; a number that Excel made of 3 or 3.2 reads as it was typed."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).strip()


def _header(rows: list[Row]) -> tuple[int, dict[int, str]] | None:
    for number, values in rows[:HEADER_WITHIN]:
        columns = {index: field for index, value in enumerate(values) if (field := field_named(value))}
        if {"number", "title"} <= set(columns.values()):
            return number, columns
    return None


def _articles(rows: list[Row], header: int, columns: dict[int, str]) -> ParsedGuideline:
    drafts = tuple(
        article_from(number, {field: values[index] for index, field in columns.items() if index < len(values)})
        for number, values in rows
        if number > header
    )
    problems = () if drafts else (ImportProblem(row=header, message=_("No articles stand below the header row.")),)
    return ParsedGuideline(articles=drafts, problems=problems)
