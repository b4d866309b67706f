"""A check master as an Excel workbook or a CSV file: one row per item, and a sheet of notes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from hub.core.cells import guarded, unguarded, xml_text
from hub.core.languages import shown
from knowledge.parsers.errors import ParseError
from knowledge.parsers.tables import Sheet, read_csv, read_workbook
from review.masters.content import ItemContent
from review.masters.table import (
    CHOICES,
    COLUMNS,
    HEADER_WITHIN,
    MAX_ROWS,
    NEEDED,
    ReadTable,
    SheetRow,
    cells_of,
    field_named,
    label_of,
    read_rows,
    refused,
)

MAX_COLUMNS = 60
SPARE_ROWS = 200
FONT = "Yu Gothic"
_THIN = Side(style="thin", color="C3CBD4")
_WRITTEN_FROM = re.compile(r"(?P<code>[-\w]+) v(?P<number>\d+)")


def write_workbook(items: Sequence[ItemContent], *, code: str, number: int, title: str) -> bytes:
    """Write a master for editing; headers and choices are in the running language."""
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = _("Check items")
    _write_header(sheet)
    for row, item in enumerate(items, 2):
        for at, text in enumerate(cells_of(item), 1):
            cell = sheet.cell(row, at, xml_text(text) or None)
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
        writer.writerow([guarded(xml_text(text)) for text in cells_of(item)])
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
        most = MAX_ROWS + HEADER_WITHIN
        book = read_workbook(content, max_rows=most, max_columns=MAX_COLUMNS, with_merged=True)
    except ParseError as error:
        return refused(1, shown(error.text))
    sheets = [list(_sheet_rows(sheet)) for sheet in book if sheet.is_visible]
    chosen = next((rows for rows in sheets if _has_header(rows)), sheets[0] if sheets else [])
    return replace(read_rows(chosen, known), written_from=_written_from(sheets))


def _sheet_rows(sheet: Sheet) -> Iterator[SheetRow]:
    """Rows as texts. A merged cell says the same for every row it covers, but for the code, which names one item."""
    texts = [tuple(map(_text, row)) for row in sheet.rows]
    merged: dict[tuple[int, int], str] = {}
    for first, column, last, _last_column in sheet.merged:
        own = texts[first - 1] if first <= len(texts) else ()
        value = own[column - 1] if column <= len(own) else ""
        merged |= {(row, column): value for row in range(first, min(last, len(texts)) + 1)}
    codes = {at for row in texts[:HEADER_WITHIN] for at, text in enumerate(row, 1) if field_named(text) == "code"}
    for number, own in enumerate(texts, 1):
        # A merged area may reach below the last item: a row of its own text it must have.
        filled = tuple(text or ("" if at in codes else merged.get((number, at), "")) for at, text in enumerate(own, 1))
        yield SheetRow(number=number, values=filled if any(own) else own)


def _text(value: object) -> str:
    """A cell as text; a number that Excel made of 3 reads as it was typed."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).replace("_x000D_", "").strip()


def _has_header(rows: Sequence[SheetRow]) -> bool:
    return any({field_named(value) for value in row.values} >= NEEDED for row in rows[:HEADER_WITHIN])


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
        sheet = read_csv(content, max_rows=MAX_ROWS + HEADER_WITHIN, max_columns=MAX_COLUMNS)
    except ParseError as error:
        return refused(1, shown(error.text))
    rows = [tuple(unguarded(str(value).strip()) for value in row) for row in sheet.rows]
    return read_rows([SheetRow(number=number, values=row) for number, row in enumerate(rows, 1)], known)
