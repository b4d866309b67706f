"""The records of an xlsb workbook (BIFF12) that say how cells are shown, which calamine does not give."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

from knowledge.parsers.ooxml.number_formats import NumberFormats
from knowledge.parsers.ooxml.package import package_relations
from knowledge.parsers.spreadsheet.calamine_sheets import ERRORS, SheetRecords, WorkbookRecords

# Source: [MS-XLSB] 2.3.1, record types.
_ROW, _FIRST_CELL, _LAST_CELL = 0, 1, 11
_ERRORS = frozenset({3, 11})  # typed, and of formulas
_FORMAT, _XF, _BEGIN_XFS, _END_XFS = 44, 47, 617, 618
_COLUMN_INFO, _WORKBOOK_PROPERTIES, _BUNDLE_SHEET, _MERGED = 60, 153, 156, 176
_COMMENT, _DRAWING = 635, 550


def read_xlsb_records(path: Path) -> WorkbookRecords:
    """Read number formats, merged and hidden cells, and how many comments and drawings there are.

    :raises OSError: ValueError: KeyError: zipfile.BadZipFile: a damaged file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except struct.error as error:
        raise ValueError("a record ends early") from error


def _read(archive: zipfile.ZipFile) -> WorkbookRecords:
    workbook = package_relations(archive, "")["officeDocument"]
    relations = package_relations(archive, workbook)
    date_1904, sheets = False, []
    for kind, body in _records(archive.read(workbook)):
        if kind == _WORKBOOK_PROPERTIES:
            date_1904 = bool(body[0] & 1)
        elif kind == _BUNDLE_SHEET:
            relation, rest = _text(body[8:])
            sheets.append((relations.get(relation, ""), _text(rest)[0]))
    styles = relations.get("styles", "")
    formats = _formats(archive.read(styles) if styles in archive.NameToInfo else b"", date_1904=date_1904)
    records = WorkbookRecords(formats=formats, date_1904=date_1904)
    for part, name in sheets:
        if part in archive.NameToInfo:
            records.by_sheet[name] = _sheet(archive.read(part), records)
            comments = package_relations(archive, part).get("comments", "")
            if comments in archive.NameToInfo:
                records.comments += sum(kind == _COMMENT for kind, _body in _records(archive.read(comments)))
    return records


def _formats(data: bytes, *, date_1904: bool) -> NumberFormats:
    codes: dict[str | None, str] = {}
    ids: list[str] = []
    is_of_cells = False
    for kind, body in _records(data):
        if kind in (_BEGIN_XFS, _END_XFS):
            is_of_cells = kind == _BEGIN_XFS
        elif kind == _FORMAT:
            codes[str(struct.unpack_from("<H", body)[0])] = _text(body[2:])[0]
        elif kind == _XF and is_of_cells:
            ids.append(str(struct.unpack_from("<H", body, 2)[0]))
    return NumberFormats.from_ids(ids, custom=codes, date_1904=date_1904)


def _sheet(data: bytes, records: WorkbookRecords) -> SheetRecords:
    sheet = SheetRecords()
    row = 0
    for kind, body in _records(data):
        if kind == _ROW:
            row = struct.unpack_from("<I", body)[0] + 1
            if len(body) > 11 and body[11] & 0x10:  # fDyZero
                sheet.hidden_rows.add(row)
        elif _FIRST_CELL <= kind <= _LAST_CELL:
            column, style = struct.unpack_from("<II", body)
            sheet.styles[row, column + 1] = style & 0xFFFFFF
            if kind in _ERRORS:
                sheet.errors[row, column + 1] = ERRORS[body[8]]
        elif kind == _COLUMN_INFO:
            first, last, _width, _style, flags = struct.unpack_from("<IIIIH", body)
            if flags & 1:
                sheet.hidden_columns.append((first + 1, last + 1))
        elif kind == _MERGED:
            first_row, last_row, first, last = struct.unpack_from("<IIII", body)
            sheet.merged[first_row + 1, first + 1] = (last_row + 1, last + 1)
        elif kind == _DRAWING:
            records.drawings += 1
    return sheet


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each record's type and body; both type and length are numbers of seven bits a byte."""
    place = 0
    while place < len(data):
        kind, length = data[place], 0
        place += 1
        if kind & 0x80:
            kind, place = (kind & 0x7F) | (data[place] & 0x7F) << 7, place + 1
        for shift in range(0, 28, 7):
            byte = data[place]
            place += 1
            length |= (byte & 0x7F) << shift
            if not byte & 0x80:
                break
        yield kind, data[place : place + length]
        place += length


def _text(data: bytes) -> tuple[str, bytes]:
    """Read a text with its length before it, and give what follows."""
    characters = struct.unpack_from("<I", data)[0]
    if characters == 0xFFFFFFFF:
        return "", data[4:]
    end = 4 + 2 * characters
    return data[4:end].decode("utf-16-le"), data[end:]
