"""The sheets of an OpenDocument spreadsheet: each cell has the text that it shows, beside its value."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from lxml import etree

from knowledge.parsers.errors import parse_error
from knowledge.parsers.ooxml.number_formats import NumberFormats
from knowledge.parsers.ooxml.package import Element
from knowledge.parsers.spreadsheet.calamine_sheets import WorkbookRecords
from knowledge.parsers.xlsx.reader import Sheet

_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_HIDDEN = ("collapse", "filter")
_ROWS, _COLUMNS = 1_048_576, 16_384


def read_ods(path: Path, *, max_cells: int) -> WorkbookRecords:
    """Read the visible sheets with their cells as shown; what is hidden or drawn is counted.

    :raises ParseError: ``too_many_cells``. :raises etree.XMLSyntaxError: KeyError: ValueError: a damaged file.
    """
    with zipfile.ZipFile(path) as archive, archive.open("content.xml") as stream:
        return _Reader(max_cells).read(stream)


class _Reader:
    def __init__(self, max_cells: int) -> None:
        self._records = WorkbookRecords(formats=NumberFormats(codes=[], date_1904=False))
        self._max_cells = max_cells
        self._filled = 0
        self._hidden_styles: set[str] = set()

    def read(self, stream: IO[bytes]) -> WorkbookRecords:
        tags = (f"{_STYLE}style", f"{_TABLE}table", f"{_TABLE}table-row", f"{_TABLE}table-column")
        sheet: Sheet | None = None
        row = column = 0
        events = etree.iterparse(stream, events=("start", "end"), tag=tags, resolve_entities=False, no_network=True)
        for event, element in events:
            tag = element.tag.rpartition("}")[2]
            if event == "start":
                if tag == "table" and sheet is None:
                    sheet, row, column = Sheet(name=element.get(f"{_TABLE}name", "")), 0, 0
            elif tag == "style":
                self._note_style(element)
            elif tag == "table-column" and sheet is not None:
                repeated = _repeated(element, "columns", _COLUMNS)
                if element.get(f"{_TABLE}visibility") in _HIDDEN:
                    sheet.hidden_columns.append((column + 1, column + repeated))
                column += repeated
            elif tag == "table-row" and sheet is not None:
                row = self._row(element, sheet, row)
                element.clear()
            elif tag == "table" and sheet is not None and element.get(f"{_TABLE}name", "") == sheet.name:
                self._end(element, sheet)
                sheet = None
        return self._records

    def _note_style(self, element: Element) -> None:
        for properties in element.iterchildren(f"{_STYLE}table-properties"):
            if properties.get(f"{_TABLE}display") == "false":
                self._hidden_styles.add(element.get(f"{_STYLE}name", ""))

    def _end(self, element: Element, sheet: Sheet) -> None:
        if element.get(f"{_TABLE}style-name", "") in self._hidden_styles:
            self._records.hidden_sheets += 1
        else:
            self._records.sheets.append(sheet)
        self._records.drawings += sum(1 for _shape in element.iterfind(f"{_TABLE}shapes/*"))

    def _row(self, element: Element, sheet: Sheet, above: int) -> int:
        """Take the cells of a row, as often as it is repeated; gives the number of the last row."""
        repeated = _repeated(element, "rows", _ROWS)
        cells = list(self._cells(element, sheet, above + 1))
        for row in range(above + 1, above + 1 + (repeated if cells else 0)):
            for column, text in cells:
                self._filled += 1
                if self._filled > self._max_cells or row > _ROWS:
                    raise parse_error("too_many_cells", limit=f"{self._max_cells:,}")
                is_hidden = element.get(f"{_TABLE}visibility") in _HIDDEN or any(
                    first <= column <= last for first, last in sheet.hidden_columns
                )
                if is_hidden:
                    self._records.hidden_cells += 1
                else:
                    sheet.cells[row, column] = text
        return above + repeated

    def _cells(self, row: Element, sheet: Sheet, number: int) -> Iterator[tuple[int, str]]:
        column = 1
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            repeated = _repeated(cell, "columns", _COLUMNS)
            rows = int(cell.get(f"{_TABLE}number-rows-spanned", "1"))
            columns = int(cell.get(f"{_TABLE}number-columns-spanned", "1"))
            if rows > 1 or columns > 1:
                sheet.merged[number, column] = (number + rows - 1, column + columns - 1)
            self._records.comments += sum(1 for _note in cell.iterchildren(f"{_OFFICE}annotation"))
            text = _shown(cell)
            if text and not cell.tag.endswith("covered-table-cell"):
                if self._filled + repeated > self._max_cells:
                    raise parse_error("too_many_cells", limit=f"{self._max_cells:,}")
                yield from ((column + place, text) for place in range(repeated))
            column += repeated


def _repeated(element: Element, what: str, most: int) -> int:
    return max(1, min(int(element.get(f"{_TABLE}number-{what}-repeated", "1")), most))


def _shown(cell: Element) -> str:
    return "\n".join(_paragraph(line) for line in cell.iterchildren(f"{_TEXT}p")).strip()


def _paragraph(element: Element) -> str:
    """Join a paragraph's texts; blanks and breaks are elements, the readings over kanji (ruby) are no text of it."""
    parts = [element.text or ""]
    for child in element:
        name = str(child.tag)
        if name == f"{_TEXT}s":
            parts.append(" " * min(int(child.get(f"{_TEXT}c", "1")), 1000))
        elif name in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            parts.append("\t" if name.endswith("tab") else "\n")
        elif name != f"{_TEXT}ruby-text" and not name.endswith("annotation"):
            parts.append(_paragraph(child))
        parts.append(child.tail or "")
    return "".join(parts)
