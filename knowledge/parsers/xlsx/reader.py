"""Stream the cells of a workbook as Excel shows them.

The sheet XML is read directly: libraries that build dense ranges are undone by one stray cell in XFD1048576, and
20,000 rows took openpyxl 6 s where streaming needs one.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO

from lxml import etree

from knowledge.parsers.errors import corrupted, parse_error
from knowledge.parsers.ooxml.number_formats import NumberFormats
from knowledge.parsers.ooxml.package import Element, package_relations, parse_part
from knowledge.parsers.pictures import PictureIntake
from knowledge.parsers.xlsx.drawings import Shape, read_shapes, read_ticks

_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_RELATION_ID = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"
# A chart may be a sheet of its own.
_SHEETS = re.compile("worksheets|chartsheets")
# Graph paper has many empty cells with borders, which cost little.
_EMPTY_FACTOR = 5
_MAX_ROWS, _MAX_COLUMNS = 1_048_576, 16_384
_DIGITS = "0123456789"
_MOST_WIDTHS = 200


@dataclass(slots=True, kw_only=True)
class Sheet:
    """A visible sheet: texts of its non-blank, visible cells by (row, column), both from 1.

    ``merged`` maps the first cell of a merged range to the range's last (row, column), ``widths`` columns to how many
    characters wide they are, ``controls`` the ids of form controls to the relations that lead to their states.
    """

    name: str
    cells: dict[tuple[int, int], str] = field(default_factory=dict)
    merged: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    widths: dict[int, float] = field(default_factory=dict)
    controls: dict[str, str] = field(default_factory=dict)
    shapes: list[Shape] = field(default_factory=list)


class WorkbookReader:
    """Reads the visible sheets of an .xlsx or .xlsm file, one after the other."""

    def __init__(self, path: Path, pictures: PictureIntake, *, max_cells: int) -> None:
        self._path = path
        self._pictures = pictures
        self._max_cells = max_cells
        self._cells_seen = 0
        self._cells_filled = 0
        self.hidden_sheets = 0
        self.hidden_cells = 0
        self.unresolved = 0
        self.comments = 0

    def sheets(self) -> Iterator[Sheet]:
        """Yield visible sheets in workbook order.

        :raises ParseError: ``corrupted``, or ``too_many_cells`` as soon as the workbook passes the limit.
        """
        try:
            with zipfile.ZipFile(self._path) as archive:
                yield from self._read(archive)
        except (etree.XMLSyntaxError, KeyError, ValueError, IndexError, zipfile.BadZipFile) as error:
            raise corrupted("xlsx", type(error).__name__) from error

    def _read(self, archive: zipfile.ZipFile) -> Iterator[Sheet]:
        workbook_path = package_relations(archive, "")["officeDocument"]
        workbook = parse_part(archive, workbook_path)
        relations = package_relations(archive, workbook_path)
        strings = _shared_strings(archive, relations.get("sharedStrings"))
        date_1904 = any(found.get("date1904") in ("1", "true") for found in _children(workbook, "workbookPr"))
        formats = _number_formats(archive, relations.get("styles"), date_1904=date_1904)
        for element in workbook.iter("{*}sheet"):
            if element.get("state", "visible") != "visible":
                self.hidden_sheets += 1
                continue
            target = relations.get(element.get(_RELATION_ID) or element.get(_STRICT_RELATION_ID) or "")
            if target and _SHEETS.search(target) and target in archive.NameToInfo:
                with archive.open(target) as stream:
                    sheet = self._sheet(stream, element.get("name", ""), strings, formats)
                ticks = read_ticks(archive, target, sheet.controls)
                sheet.shapes = read_shapes(archive, target, self._pictures, ticks=ticks)
                self.comments += _comment_count(archive, target)
                yield sheet

    def _sheet(self, stream: IO[bytes], name: str, strings: list[str], formats: NumberFormats) -> Sheet:
        sheet = Sheet(name=name)
        position = [0, 0]
        for element in _elements(stream, "row", "mergeCell", "col", "control"):
            tag = element.tag.rpartition("}")[2]
            if tag == "row":
                self._row(element, sheet, position, strings, formats)
                _release(element)
            elif tag == "mergeCell":
                first, _, last = element.get("ref", "").partition(":")
                if last:
                    sheet.merged[split_reference(first)] = split_reference(last)
            elif tag == "control":
                sheet.controls[element.get("shapeId", "")] = element.get(_RELATION_ID, "")
            else:
                _column(element, sheet)
        self.hidden_cells += _drop_hidden_columns(sheet)
        return sheet

    def _row(self, row: Element, sheet: Sheet, position: list[int], strings: list[str], formats: NumberFormats) -> None:
        position[0] = int(row.get("r") or position[0] + 1)
        position[1] = 0
        visible = row.get("hidden") not in ("1", "true")
        for cell in _children(row, "c"):
            reference = cell.get("r")
            column = _column_of(reference.rstrip(_DIGITS)) if reference else position[1] + 1
            position[1] = column
            self._cells_seen += 1
            self._cells_filled += len(cell) > 0
            if self._cells_filled > self._max_cells or self._cells_seen > _EMPTY_FACTOR * self._max_cells:
                raise parse_error("too_many_cells", limit=f"{self._max_cells:,}")
            if not len(cell):
                continue
            if not visible:
                self.hidden_cells += 1
                continue
            text = _cell_text(cell, strings, formats)
            if text is None:
                self.unresolved += 1
                text = _formula(cell)
            if text := text.strip():
                sheet.cells[position[0], column] = text


def _column(element: Element, sheet: Sheet) -> None:
    first, last = int(element.get("min", "0")), int(element.get("max", "0"))
    if element.get("hidden") in ("1", "true"):
        sheet.hidden_columns.append((first, last))
    elif width := element.get("width"):
        # a range may reach to the last column there can be
        sheet.widths |= dict.fromkeys(range(first, min(last, first + _MOST_WIDTHS) + 1), float(width))


def _comment_count(archive: zipfile.ZipFile, sheet_path: str) -> int:
    """Count a sheet's comments; threaded ones have a plain twin each, for older programs."""
    path = package_relations(archive, sheet_path).get("comments")
    if path is None or path not in archive.NameToInfo:
        return 0
    return sum(1 for _ in parse_part(archive, path).iter("{*}comment"))


def _cell_text(cell: Element, strings: list[str], formats: NumberFormats) -> str | None:
    """Return what a cell shows; None for a formula that was never computed, as other programs write it."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(_rich_text(item) for item in _children(cell, "is"))
    style = int(cell.get("s", "0"))
    value = next((child.text for child in _children(cell, "v")), None)
    if not value:
        # A formula whose result is an empty text says that it is a text.
        return None if kind != "str" and next(_children(cell, "f"), None) is not None else ""
    if kind == "s":
        return formats.display_text(strings[int(value)], style)
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    if kind == "str":
        return formats.display_text(value, style)
    return str(value) if kind in ("e", "d") else formats.display(value, style)


def _formula(cell: Element) -> str:
    """Return the formula as Excel's input line shows it; empty where it is shared and written in another cell."""
    return next((f"={child.text}" for child in _children(cell, "f") if child.text), "")


def _rich_text(item: Element) -> str:
    """Join a string item's runs; phonetic guides (``rPh``) are no text of the cell."""
    parts: list[str] = []
    for child in item:
        tag = str(child.tag).rpartition("}")[2]
        if tag == "t":
            parts.append(child.text or "")
        elif tag == "r":
            parts.extend(found.text or "" for found in _children(child, "t"))
    return "".join(parts)


def _shared_strings(archive: zipfile.ZipFile, path: str | None) -> list[str]:
    if path is None or path not in archive.NameToInfo:
        return []
    strings: list[str] = []
    with archive.open(path) as stream:
        for element in _elements(stream, "si"):
            strings.append(_rich_text(element))
            _release(element)
    return strings


def _number_formats(archive: zipfile.ZipFile, path: str | None, *, date_1904: bool) -> NumberFormats:
    if path is None or path not in archive.NameToInfo:
        return NumberFormats(codes=[], date_1904=date_1904)
    root = parse_part(archive, path)
    custom = {found.get("numFmtId"): found.get("formatCode", "") for found in root.iter("{*}numFmt")}
    cell_formats = next(root.iter("{*}cellXfs"), None)
    ids = [found.get("numFmtId", "0") for found in cell_formats] if cell_formats is not None else []
    return NumberFormats.from_ids(ids, custom=custom, date_1904=date_1904)


def _elements(stream: IO[bytes], *local_names: str) -> Iterator[Element]:
    """Yield the elements of these names as they end; the others are never made known to Python, which is slow."""
    tags = [f"{{*}}{name}" for name in local_names]
    for _event, element in etree.iterparse(stream, tag=tags, resolve_entities=False, no_network=True):
        yield element


def _children(parent: Element, local_name: str) -> Iterator[Element]:
    return parent.iterchildren(f"{{*}}{local_name}")  # type: ignore[no-any-return]


def _release(element: Element) -> None:
    """Free a finished element and those before it, so that a long sheet never is in memory as a tree."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


@lru_cache(maxsize=_MAX_COLUMNS)
def _column_of(letters: str) -> int:
    """Turn ``"B"`` into 2; a sheet has as many cells as columns come again. :raises ValueError: for anything else."""
    return split_reference(f"{letters}1")[1]


def split_reference(reference: str) -> tuple[int, int]:
    """Turn ``"B3"`` into (3, 2): row and column from 1. :raises ValueError: for anything else."""
    column = 0
    for index, char in enumerate(reference):
        if char.isdigit():
            row = int(reference[index:])
            if not (1 <= row <= _MAX_ROWS and 1 <= column <= _MAX_COLUMNS):
                break
            return row, column
        column = column * 26 + ord(char) - ord("A") + 1
    raise ValueError(reference)


def _drop_hidden_columns(sheet: Sheet) -> int:
    hidden, before = sheet.hidden_columns, len(sheet.cells)
    if hidden:
        sheet.cells = {
            place: text
            for place, text in sheet.cells.items()
            if not any(first <= place[1] <= last for first, last in hidden)
        }
    return before - len(sheet.cells)
