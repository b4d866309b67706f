"""The records of an xls workbook (BIFF8) that say how cells are shown, which calamine does not give."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import olefile

from knowledge.parsers.errors import parse_error
from knowledge.parsers.ooxml.number_formats import NumberFormats
from knowledge.parsers.spreadsheet.calamine_sheets import ERRORS, SheetRecords, WorkbookRecords

# Source: [MS-XLS] 2.3, record types.
_BOF, _EOF, _FILE_PASS, _DATE_1904 = 0x0809, 0x000A, 0x002F, 0x0022
_BOUND_SHEET, _FORMAT, _XF = 0x0085, 0x041E, 0x00E0
_ROW, _COLUMN_INFO, _NOTE, _OBJECT = 0x0208, 0x007D, 0x001C, 0x005D
_MANY_RK, _FORMULA, _STRING, _TRUTH_OR_ERROR = 0x00BD, 0x0006, 0x0207, 0x0205
# What is where the number would be of a formula's result that is none: a text (that follows), an error, an empty text.
_TEXT_RESULT, _ERROR_RESULT, _EMPTY_RESULT = b"\x00", b"\x02", b"\x03"
# NUMBER, RK, FORMULA, LABELSST, LABEL, RSTRING, BOOLERR: row, column and format first.
_CELLS = frozenset({0x0203, 0x027E, 0x0006, 0x00FD, 0x0204, 0x00D6, 0x0205})
_BIFF8 = 0x0600
# Objects that show nothing of their own: notes have a record of theirs, and lists are those of filters.
_NOTE_OBJECT, _LIST_OBJECT = 0x19, 0x14


def read_xls_records(path: Path) -> WorkbookRecords:
    """Read number formats, hidden rows and columns, and how many notes and drawings there are.

    Workbooks of Excel 95 and older have their records in another form: their numbers are shown without formats.

    :raises ParseError: ``encrypted``. :raises OSError: ValueError: struct.error: a damaged file.
    """
    with olefile.OleFileIO(str(path)) as container:
        name = "Workbook" if container.exists("Workbook") else "Book"
        data = container.openstream(name).read()
    try:
        return _Reader(data).read()
    except struct.error as error:
        raise ValueError("a record ends early") from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._codes: dict[str | None, str] = {}
        self._ids: list[str] = []
        self._places: list[tuple[int, str]] = []
        self._date_1904 = False

    def read(self) -> WorkbookRecords:
        is_biff8 = self._read_globals()
        formats = NumberFormats.from_ids(self._ids, custom=self._codes, date_1904=self._date_1904)
        records = WorkbookRecords(formats=formats, date_1904=self._date_1904)
        for place, name in self._places if is_biff8 else ():
            records.by_sheet[name] = self._read_sheet(place, records)
        return records

    def _records(self, place: int) -> Iterator[tuple[int, bytes]]:
        """Yield the records of a part, up to its end; charts inside it are passed over."""
        depth = 0
        while place + 4 <= len(self._data):
            kind, length = struct.unpack_from("<HH", self._data, place)
            body = self._data[place + 4 : place + 4 + length]
            place += 4 + length
            depth += (kind == _BOF) - (kind == _EOF)
            if depth == 1:
                yield kind, body
            elif depth <= 0:
                return

    def _read_globals(self) -> bool:
        is_biff8 = False
        for kind, body in self._records(0):
            if kind == _BOF:
                is_biff8 = struct.unpack_from("<H", body)[0] == _BIFF8
            elif kind == _FILE_PASS:
                raise parse_error("encrypted")
            elif kind == _DATE_1904:
                self._date_1904 = body[:1] == b"\x01"
            elif not is_biff8:
                continue
            elif kind == _BOUND_SHEET:
                self._places.append((struct.unpack_from("<I", body)[0], _text(body[7:], body[6])))
            elif kind == _FORMAT:
                number, characters = struct.unpack_from("<HH", body)
                self._codes[str(number)] = _text(body[5:], characters, flags=body[4])
            elif kind == _XF:
                self._ids.append(str(struct.unpack_from("<H", body, 2)[0]))
        return is_biff8

    def _read_sheet(self, place: int, records: WorkbookRecords) -> SheetRecords:
        sheet = SheetRecords()
        waiting: tuple[int, int] | None = None
        for kind, body in self._records(place):
            if kind in _CELLS:
                waiting = _take_cell(kind, body, sheet)
            elif kind == _STRING and waiting is not None:
                # A text of several records is one that calamine has; the first of them would be cut.
                characters = struct.unpack_from("<H", body)[0]
                if len(text := _text(body[2:], characters)) == characters:
                    sheet.texts[waiting] = text
                waiting = None
            elif kind == _NOTE:
                records.comments += 1
            elif kind == _OBJECT:
                records.drawings += struct.unpack_from("<H", body, 4)[0] not in (_NOTE_OBJECT, _LIST_OBJECT)
            else:
                _take_layout(kind, body, sheet)
        return sheet


def _take_cell(kind: int, body: bytes, sheet: SheetRecords) -> tuple[int, int] | None:
    """Note a cell's style and error; gives its place when it is a formula whose result is a text, in a later record."""
    row, column, style = struct.unpack_from("<HHH", body)
    place = row + 1, column + 1
    sheet.styles[place] = style
    if kind == _TRUTH_OR_ERROR and body[7]:
        sheet.errors[place] = ERRORS[body[6]]
    if kind != _FORMULA or body[12:14] != b"\xff\xff":
        return None
    if body[6:7] == _ERROR_RESULT:
        sheet.errors[place] = ERRORS[body[8]]
    elif body[6:7] == _EMPTY_RESULT:
        sheet.texts[place] = ""
    return place if body[6:7] == _TEXT_RESULT else None


def _take_layout(kind: int, body: bytes, sheet: SheetRecords) -> None:
    if kind == _MANY_RK:
        row, first = struct.unpack_from("<HH", body)
        for number in range((len(body) - 6) // 6):
            sheet.styles[row + 1, first + number + 1] = struct.unpack_from("<H", body, 4 + 6 * number)[0]
    elif kind == _ROW:
        row, flags = struct.unpack_from("<H", body)[0], struct.unpack_from("<I", body, 12)[0]
        if flags & 0x20:
            sheet.hidden_rows.add(row + 1)
    elif kind == _COLUMN_INFO:
        first, last, _width, _style, flags = struct.unpack_from("<HHHHH", body)
        if flags & 1:
            sheet.hidden_columns.append((first + 1, last + 1))


def _text(data: bytes, characters: int, *, flags: int | None = None) -> str:
    """Read characters of one byte or of two; without ``flags`` they are the first byte."""
    if flags is None:
        flags, data = data[0], data[1:]
    return data[: 2 * characters].decode("utf-16-le") if flags & 1 else data[:characters].decode("latin-1")
