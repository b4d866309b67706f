"""Small workbooks of the formats xls, xlsb and ods, written by hand."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.knowledge.parsers.containers import write_container


@dataclass(frozen=True)
class CellError:
    """An error by its number in the file, typed or the result of a formula."""

    code: int
    is_result: bool = False


Rows = Sequence[Sequence[str | float | CellError | None]]


def _record(kind: int, body: bytes) -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def _short_text(text: str) -> bytes:
    return struct.pack("<HB", len(text), 1) + text.encode("utf-16-le")


def write_xls(
    rows: Rows,
    *,
    sheet: str = "機能一覧",
    format_code: str = "General",
    merged: Sequence[tuple[int, int, int, int]] = (),
    hidden_rows: Sequence[int] = (),
) -> bytes:
    """A workbook of one sheet (BIFF8). Numbers have the format; ranges and rows count from 0."""
    begin = _record(0x0809, struct.pack("<HHHHII", 0x0600, 5, 0x0DBB, 0x07CC, 0, 6))
    end = _record(0x000A, b"")
    code = _record(0x041E, struct.pack("<H", 170) + _short_text(format_code))
    styles = b"".join(_record(0x00E0, struct.pack("<HH", 0, number) + bytes(16)) for number in (0, 170))
    written = sheet.encode("utf-16-le")

    def bound(place: int) -> bytes:
        return _record(0x0085, struct.pack("<IHBB", place, 0, len(sheet), 1) + written)

    place = len(begin + code + styles + bound(0) + end)
    body = _record(0x0809, struct.pack("<HHHHII", 0x0600, 0x10, 0x0DBB, 0x07CC, 0, 6))
    body += b"".join(_record(0x0208, struct.pack("<HHHHHHI", row, 0, 9, 255, 0, 0, 0x20)) for row in hidden_rows)
    for row, cells in enumerate(rows):
        for column, value in enumerate(cells):
            if isinstance(value, str):
                body += _record(0x0204, struct.pack("<HHH", row, column, 0) + _short_text(value))
            elif isinstance(value, CellError):
                body += _xls_error(row, column, value)
            elif value is not None:
                body += _record(0x0203, struct.pack("<HHHd", row, column, 1, value))
    if merged:
        ranges = b"".join(struct.pack("<HHHH", top, bottom, left, right) for top, left, bottom, right in merged)
        body += _record(0x00E5, struct.pack("<H", len(merged)) + ranges)
    return write_container({"Workbook": begin + code + styles + bound(place) + end + body + end})


def _xls_error(row: int, column: int, error: CellError) -> bytes:
    place = struct.pack("<HHH", row, column, 1)
    if error.is_result:
        return _record(0x0006, place + struct.pack("<BBB3xHHIH", 2, 0, error.code, 0xFFFF, 0, 0, 0))
    return _record(0x0205, place + struct.pack("<BB", error.code, 1))


def _record12(kind: int, body: bytes = b"") -> bytes:
    head = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
    length, number = b"", len(body)
    while number >= 0x80:
        length, number = length + bytes([number & 0x7F | 0x80]), number >> 7
    return head + length + bytes([number]) + body


def _long_text(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def write_xlsb(
    rows: Rows,
    *,
    sheet: str = "機能一覧",
    format_code: str = "General",
    merged: Sequence[tuple[int, int, int, int]] = (),
    hidden_rows: Sequence[int] = (),
) -> bytes:
    """The same as `write_xls` in the binary format of Excel 2007 and later."""
    book = _record12(131) + _record12(153, bytes(12)) + _record12(143)
    book += _record12(156, struct.pack("<II", 0, 1) + _long_text("rId1") + _long_text(sheet))
    book += _record12(144) + _record12(132)
    styles = _record12(278) + _record12(615, struct.pack("<I", 1))
    styles += _record12(44, struct.pack("<H", 170) + _long_text(format_code)) + _record12(616)
    styles += _record12(617, struct.pack("<I", 2))
    styles += b"".join(_record12(47, struct.pack("<HH", 0, number) + bytes(12)) for number in (0, 170))
    styles += _record12(618) + _record12(279)
    widest = max(len(cells) for cells in rows)
    part = _record12(129) + _record12(148, struct.pack("<IIII", 0, len(rows) - 1, 0, widest - 1)) + _record12(145)
    for row, cells in enumerate(rows):
        flags = 0x10 if row in hidden_rows else 0
        part += _record12(0, struct.pack("<IIHBBBI", row, 0, 300, 0, flags, 0, 0))
        for column, value in enumerate(cells):
            if isinstance(value, str):
                part += _record12(6, struct.pack("<II", column, 0) + _long_text(value))
            elif isinstance(value, CellError):
                formula = struct.pack("<HII", 0, 0, 0) if value.is_result else b""
                part += _record12(11 if value.is_result else 3, struct.pack("<IIB", column, 1, value.code) + formula)
            elif value is not None:
                part += _record12(5, struct.pack("<IId", column, 1, value))
    part += _record12(146)
    if merged:
        part += _record12(177, struct.pack("<I", len(merged)))
        part += b"".join(_record12(176, struct.pack("<IIII", top, end, left, last)) for top, left, end, last in merged)
        part += _record12(178)
    part += _record12(130)
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Override PartName="/xl/workbook.bin" '
        'ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>',
        "_rels/.rels": _relations({"rId1": ("officeDocument", "xl/workbook.bin")}),
        "xl/_rels/workbook.bin.rels": _relations(
            {"rId1": ("worksheet", "worksheets/sheet1.bin"), "rId2": ("styles", "styles.bin")}
        ),
        "xl/workbook.bin": book,
        "xl/styles.bin": styles,
        "xl/worksheets/sheet1.bin": part,
    }
    return zipped(parts)


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    rows = (
        f'<Relationship Id="{name}" Type="{_KIND}/{kind}" Target="{target}"/>'
        for name, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_RELATIONS}">{"".join(rows)}</Relationships>'


_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def write_ods(body: str) -> bytes:
    """A spreadsheet of OpenDocument around the XML of its tables (prefixes table, text, office)."""
    names = " ".join(f'xmlns:{name}="{_OFFICE}:{name}:1.0"' for name in ("office", "table", "text", "style"))
    content = f"<office:document-content {names}><office:body><office:spreadsheet>{body}"
    content += "</office:spreadsheet></office:body></office:document-content>"
    return zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})


def ods_row(*texts: str, attributes: str = "") -> str:
    cells = "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in texts)
    return f"<table:table-row {attributes}>{cells}</table:table-row>"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()
