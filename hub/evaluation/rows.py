"""Files of cases to rows: JSON Lines, a JSON list (or {"cases": […]}), and Excel with a header line. Pure."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zipfile import BadZipFile

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from hub.core.strict_json import read_json

MOST_ROWS = 50_000
ZIP_MAGIC = b"PK\x03\x04"


class UnreadableCases(ValueError):
    """The file as a whole is none that cases can be read from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: its number from 1 as an editor or Excel shows it, and what it holds (or why it can't be read)."""

    number: int
    fields: Any
    problem: str = ""


def read_rows(content: bytes, *, filename: str) -> list[Row]:
    """Read every row of a file; its kind is told by its first bytes. Raises UnreadableCases."""
    rows = list(_excel_rows(content) if content.startswith(ZIP_MAGIC) else _json_rows(content, filename))
    if not rows:
        raise UnreadableCases("the file holds no cases")
    if len(rows) > MOST_ROWS:
        raise UnreadableCases(f"the file holds {len(rows)} rows; at most {MOST_ROWS} are read at once")
    return rows


def _json_rows(content: bytes, filename: str) -> Iterator[Row]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableCases(f"{filename} is neither Excel (.xlsx) nor UTF-8 text") from error
    whole = _whole(text)
    if whole is not None:
        yield from (Row(number=number, fields=fields) for number, fields in enumerate(whole, 1))
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield Row(number=number, fields=read_json(line))
        except ValueError as error:
            yield Row(number=number, fields=None, problem=f"no JSON: {error}")


def _whole(text: str) -> list[Any] | None:
    """The rows when the text is one JSON list or {"cases": […]}; None when it is JSON Lines."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        value = read_json(text)
    except ValueError:
        return None
    if isinstance(value, dict) and isinstance(value.get("cases"), list):
        return list(value["cases"])
    return value if isinstance(value, list) else None


def _excel_rows(content: bytes) -> Iterator[Row]:
    """The first sheet: its first line names the fields, an empty line counts for nothing."""
    try:
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    # openpyxl has no error of its own for a broken workbook; its XML parser's is a SyntaxError.
    except (InvalidFileException, BadZipFile, KeyError, ValueError, SyntaxError) as error:
        raise UnreadableCases("the file is no Excel workbook that can be read") from error
    lines = book.worksheets[0].iter_rows(values_only=True) if book.worksheets else iter(())
    names = [str(name).strip() if name is not None else "" for name in next(lines, ())]
    for number, line in enumerate(lines, 2):
        fields = {name: _cell(value) for name, value in zip(names, line, strict=False) if name}
        if any(value is not None for value in fields.values()):
            yield Row(number=number, fields=fields)


def _cell(value: object) -> object:
    if isinstance(value, str):
        return value.strip() or None
    return value
