"""A check master as an Excel workbook or a CSV file: one row per item, and a sheet of notes."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _
from openpyxl import Workbook, load_workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from knowledge.backends.parsers.encoding import decode_text
from knowledge.backends.parsers.errors import ParseError
from review.masters.columns import CHOICES, COLUMNS, field_named, label_of
from review.masters.content import ItemContent
from review.masters.table import HEADER_WITHIN, MAX_ROWS, ReadTable, RowProblem, SheetRow, cells_of, read_rows

MAX_COLUMNS = 60
MAX_UNPACKED_BYTES = 100_000_000
SPARE_ROWS = 200
FONT = "Yu Gothic"
_THIN = Side(style="thin", color="C3CBD4")
_WRITTEN_FROM = re.compile(r"(?P<code>[-\w]+) v(?P<number>\d+)")
# A spreadsheet takes texts that begin so for formulas.
_FORMULA = ("=", "+", "-", "@", "\t")


def write_workbook(items: Sequence[ItemContent], *, code: str, number: int, title: str) -> bytes:
    """Write a master for editing; headers and choices are in the running language."""
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = _("Check items")
    _write_header(sheet)
    for row, item in enumerate(items, 2):
        for at, text in enumerate(cells_of(item), 1):
            cell = sheet.cell(row, at, ILLEGAL_CHARACTERS_RE.sub("", text) or None)
            cell.font, cell.alignment = Font(name=FONT, size=10), Alignment(vertical="top", wrap_text=True)
            cell.border = Border(left=_THIN, right=_THIN, top=_THIN, bottom=_THIN)
            if text:
                cell.data_type = "s"
    _write_choices(book, sheet, last=len(items) + 1 + SPARE_ROWS)
    _write_notes(book.create_sheet(_("Notes")), f"{code} v{number}", title)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def write_csv(items: Sequence[ItemContent]) -> bytes:
    """Write a master as CSV in UTF-8 with a byte order mark, which Excel needs."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow([column.title for column in COLUMNS])
    for item in items:
        writer.writerow([f"'{text}" if text.startswith(_FORMULA) else text for text in cells_of(item)])
    return target.getvalue().encode("utf-8-sig")


def read_file(filename: str, content: bytes, known: Mapping[str, ItemContent]) -> ReadTable:
    """Read a workbook or CSV that a curator edited; ``known`` are the items of the version it is held against."""
    if filename.lower().endswith(".csv"):
        return _read_csv(content, known)
    return _read_workbook(content, known)


def _write_header(sheet: Worksheet) -> None:
    for at, column in enumerate(COLUMNS, 1):
        cell = sheet.cell(1, at, column.title)
        cell.font = Font(name=FONT, size=10, bold=True, color="FFFFFF")
        cell.fill = PatternFill("solid", fgColor="24425F")
        cell.alignment = Alignment(vertical="center", wrap_text=True)
        sheet.column_dimensions[get_column_letter(at)].width = column.width
    sheet.row_dimensions[1].height = 32
    sheet.freeze_panes = "D2"
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.paperSize = sheet.PAPERSIZE_A3
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.print_title_rows = "1:1"


def _write_choices(book: Workbook, sheet: Worksheet, *, last: int) -> None:
    choices = book.create_sheet("_choices")
    choices.sheet_state = "hidden"
    for at, (field, kind) in enumerate(CHOICES.items(), 1):
        words = [label_of(field, code) for code in kind.values]
        for row, word in enumerate(words, 1):
            choices.cell(row, at, word)
        letter = get_column_letter(at)
        rule = DataValidation(
            type="list",
            formula1=f"_choices!${letter}$1:${letter}${len(words)}",
            allow_blank=True,
            showErrorMessage=True,
        )
        column = get_column_letter([each.field for each in COLUMNS].index(field) + 1)
        rule.add(f"{column}2:{column}{last}")
        sheet.add_data_validation(rule)


def _write_notes(sheet: Worksheet, version: str, title: str) -> None:
    lines = (
        title,
        version,
        _("One row is one check item. Add, change, move or delete rows, then import the file: it becomes a draft."),
        _("The code names an item for ever: keep it when you change the rest of a row."),
        _("Columns may stand in any order; what a missing column says stays as it is."),
        _('Rules: one per line, "rule_id {params as JSON}".'),
        _('Required elements: one per line, "name [section title] = regular expression"; the name alone will do.'),
        _('Patterns: one per line, "必須: regular expression" (must occur) or "禁止: regular expression" (must not).'),
        _('Term pairs: one per line, "word to avoid → word to use".'),
        _("An item with a prompt only is judged by a language model, and skipped without one."),
    )
    for row, line in enumerate(lines, 1):
        cell = sheet.cell(row, 1, line)
        cell.font = Font(name=FONT, size=14 if row == 1 else 10, bold=row == 1)
        cell.alignment = Alignment(wrap_text=True, vertical="top")
    sheet.column_dimensions["A"].width = 110


def _read_workbook(content: bytes, known: Mapping[str, ItemContent]) -> ReadTable:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_UNPACKED_BYTES:
                return _unreadable(_("The workbook is too large once unpacked."))
        book = load_workbook(io.BytesIO(content), data_only=True)
    except (zipfile.BadZipFile, InvalidFileException, KeyError, ValueError, TypeError, OSError, SyntaxError):
        # openpyxl has no error of its own for a broken workbook; its XML parser's is a SyntaxError.
        return _unreadable(_("The file is not an Excel workbook that can be read (.xlsx is needed)."))
    sheets = [list(_sheet_rows(sheet)) for sheet in book.worksheets if sheet.sheet_state == "visible"]
    chosen = next((rows for rows in sheets if _has_header(rows)), sheets[0] if sheets else [])
    return replace(read_rows(chosen, known), written_from=_written_from(sheets))


def _sheet_rows(sheet: Worksheet) -> Iterator[SheetRow]:
    """Rows as texts. A merged cell says the same for every row it covers, but for the code, which names one item."""
    merged: dict[tuple[int, int], object] = {}
    for area in sheet.merged_cells.ranges:
        value = sheet.cell(area.min_row, area.min_col).value
        for row in range(area.min_row, min(area.max_row, MAX_ROWS + HEADER_WITHIN) + 1):
            merged[row, area.min_col] = value
    last = min(sheet.max_row, MAX_ROWS + HEADER_WITHIN)
    codes = {
        cell.column
        for row in sheet.iter_rows(max_row=min(last, HEADER_WITHIN), max_col=MAX_COLUMNS)
        for cell in row
        if field_named(_text(cell.value)) == "code"
    }
    for number, cells in enumerate(sheet.iter_rows(max_row=last, max_col=MAX_COLUMNS), 1):
        own = [_text(cell.value) for cell in cells]
        # A merged area may reach below the last item: a row of its own text it must have.
        filled = [own[at] or ("" if at + 1 in codes else _text(merged.get((number, at + 1)))) for at in range(len(own))]
        yield SheetRow(number=number, values=tuple(filled if any(own) else own))


def _text(value: object) -> str:
    """A cell as text; a number that Excel made of 3 reads as it was typed."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).replace("_x000D_", "").strip()


def _has_header(rows: Sequence[SheetRow]) -> bool:
    return any({"code", "name_ja"} <= {field_named(value) for value in row.values} for row in rows[:HEADER_WITHIN])


def _written_from(sheets: Sequence[Sequence[SheetRow]]) -> int | None:
    """The version that the notes name."""
    for rows in sheets:
        if not _has_header(rows):
            for row in rows[:HEADER_WITHIN]:
                if found := _WRITTEN_FROM.fullmatch(row.values[0] if row.values else ""):
                    return int(found["number"])
    return None


def _read_csv(content: bytes, known: Mapping[str, ItemContent]) -> ReadTable:
    try:
        text = decode_text(content).text
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except (ParseError, csv.Error):
        return _unreadable(_("The file is not a CSV file that can be read."))
    return read_rows(
        [
            SheetRow(number=number, values=tuple(_unguarded(value) for value in row[:MAX_COLUMNS]))
            for number, row in enumerate(rows, 1)
        ],
        known,
    )


def _unguarded(value: str) -> str:
    text = value.strip()
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def _unreadable(message: str) -> ReadTable:
    return ReadTable(items=(), problems=(RowProblem(row=1, column="", message=message),))
