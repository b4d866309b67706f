"""Cases to rows: of JSON Lines, of a JSON list (or {"cases": […]}), and of a sheet with a header line. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

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


def is_workbook(content: bytes) -> bool:
    """Tell by the first bytes whether a file is to be read as an Excel workbook, into `table_rows`."""
    return content.startswith(ZIP_MAGIC)


def json_rows(content: bytes, *, filename: str) -> list[Row]:
    """Read every row of a JSON or JSON Lines file. Raises UnreadableCases."""
    return _counted(_json_rows(content, filename))


def table_rows(lines: Sequence[Sequence[object]]) -> list[Row]:
    """Number the rows of a sheet, whose first line names the fields; an empty line counts for nothing.

    :raises UnreadableCases: there is no row.
    """
    return _counted(_table_rows(lines))


def _counted(rows: Iterator[Row]) -> list[Row]:
    read = list(islice(rows, MOST_ROWS + 1))  # the rest of a file that is too long is not looked at
    if not read:
        raise UnreadableCases("the file holds no cases")
    if len(read) > MOST_ROWS:
        raise UnreadableCases(f"the file holds more rows than {MOST_ROWS}, which is the most that are read at once")
    return read


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


def _table_rows(lines: Sequence[Sequence[object]]) -> Iterator[Row]:
    names = [str(name).strip() if name is not None else "" for name in (lines[0] if lines else ())]
    for number, line in enumerate(lines[1:], 2):
        fields = {name: _cell(value) for name, value in zip_longest(names, line[: len(names)]) if name}
        if any(value is not None for value in fields.values()):
            yield Row(number=number, fields=fields)


def _cell(value: object) -> object:
    if isinstance(value, str):
        return value.strip() or None
    return value
