"""Workbooks of the formats xls, xlsb and ods: the same sheets, regions and cell ranges as of their xlsx twins.

Values of xls and xlsb are calamine's; how they are shown (number formats, merged and hidden cells) is read beside it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from lxml import etree
from python_calamine import CalamineError, PasswordError

from knowledge.parsers.detect import detect_format
from knowledge.parsers.errors import corrupted, counted, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.spreadsheet.calamine_sheets import WorkbookRecords, sheets_with
from knowledge.parsers.spreadsheet.ods import read_ods
from knowledge.parsers.spreadsheet.xls_records import read_xls_records
from knowledge.parsers.spreadsheet.xlsb_records import read_xlsb_records
from knowledge.parsers.xlsx.parser import document_of
from knowledge.parsers.xlsx.reader import Sheet
from knowledge.types.documents import ParsedDocument

_DAMAGE = (CalamineError, ValueError, LookupError, OSError, zipfile.BadZipFile, etree.XMLSyntaxError)


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Read cell values as shown; hidden sheets, rows and columns stay out, as do shapes, pictures and comments.

    :raises ParseError: ``encrypted``, ``corrupted``, ``too_many_cells``, or ``no_content`` of blank sheets.
    """
    format_name = detect_format(path, filename=filename)
    try:
        records = _records(path, format_name, limits)
        sheets = list(_sheets(path, format_name, records, limits))
    except PasswordError as error:
        raise parse_error("encrypted") from error
    except _DAMAGE as error:
        raise corrupted(format_name, type(error).__name__) from error
    notices = (
        *counted(records.hidden_sheets, "hidden_sheets"),
        *counted(records.hidden_cells, "hidden_cells"),
        *counted(records.comments, "cell_comments_left_out", code="comments_left_out"),
        *counted(records.drawings, "drawings_left_out"),
    )
    return document_of(format_name, sheets, notices)


def _records(path: Path, format_name: str, limits: ParseLimits) -> WorkbookRecords:
    if format_name == "ods":
        return read_ods(path, max_cells=limits.max_cells)
    return read_xls_records(path) if format_name == "xls" else read_xlsb_records(path)


def _sheets(path: Path, format_name: str, records: WorkbookRecords, limits: ParseLimits) -> Iterator[Sheet]:
    if format_name == "ods":
        return iter(records.sheets)
    return sheets_with(path, records, max_cells=limits.max_cells)
