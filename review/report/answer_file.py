"""A 指摘管理表 as a file: finding its rows again, and turning what people typed into values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from hub.core.bounds import LONG_TEXT
from hub.core.cells import unguarded
from hub.core.errors import InvalidInput, LimitExceeded
from hub.core.languages import shown
from knowledge.parsers import tables
from knowledge.parsers.errors import ParseError
from knowledge.parsers.tables import read_workbook
from knowledge.text.dates import read_day
from review.models import Triage
from review.report.sheet import (
    ANSWER_FIELDS,
    COLUMNS,
    DAY_FIELDS,
    FORMAT_NAME,
    HIDDEN_SHEET,
    cell_key,
    mark_of,
)

MAX_BYTES = 10 * 1024 * 1024
MAX_ROWS = 20_000
MAX_COLUMNS = 100
_FILE_LIMITS = replace(tables.LIMITS, max_input_bytes=MAX_BYTES)
# What is no workbook at all; other reasons name a limit, which is worth knowing.
_NO_WORKBOOK = frozenset({"corrupted", "encrypted", "unsafe_xml", "empty_file", "unsupported_format"})
Rows = Sequence[Sequence[Any]]
HEADER_SEARCHED_ROWS = 30
LIMITS = {"plan": LONG_TEXT, "text": LONG_TEXT, "answered_by": 150}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """One row: which finding, what the file says now, and what it said when it was written.

    An annotated copy says with ``revision`` which revision of the finding it was written from, and has no ``exported``.
    """

    row: int
    number: int
    finding_id: str
    values: Mapping[str, Any]
    exported: Mapping[str, Any]
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowError:
    """Why a row can't be read in; ``row`` counts as the spreadsheet program does."""

    row: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFile:
    """All rows that could be read, and what is wrong with the others."""

    review_id: str
    rows: Sequence[AnswerRow]
    errors: Sequence[RowError]


class BadValueError(ValueError):
    """A cell that can't be what its column needs; the message is for the person."""


def read_answer_file(content: bytes) -> AnswerFile:
    """Read a workbook that ``render_xlsx`` wrote and people filled in. Raises InvalidInput, LimitExceeded."""
    book = _open(content)
    if HIDDEN_SHEET not in book:
        raise _not_ours()
    review_id, exported = _exported(book[HIDDEN_SHEET])
    rows: list[AnswerRow] = []
    errors: list[RowError] = []
    seen: dict[int, int] = {}
    for row, cells in _table_of(book):
        try:
            rows.append(_read_row(row, cells, exported, seen))
        except BadValueError as error:
            errors.append(RowError(row=row, message=str(error)))
    return AnswerFile(review_id=review_id, rows=rows, errors=errors)


def _not_ours() -> InvalidInput:
    return InvalidInput(
        gettext_lazy(
            "This is no table of findings that the hub has written. Download the report as xlsx and fill it in."
        ),
        code="not_an_answer_file",
    )


def _open(content: bytes) -> dict[str, Rows]:
    """The sheets' rows by title."""
    try:
        sheets = read_workbook(content, max_rows=MAX_ROWS, max_columns=MAX_COLUMNS, limits=_FILE_LIMITS)
    except ParseError as error:
        if error.code in _NO_WORKBOOK:
            raise _not_ours() from error
        raise LimitExceeded("{reason}", reason=shown(error.text)) from error
    return {sheet.title: sheet.rows for sheet in sheets}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A row as it was written: the finding's id, the answers, and what it showed of the finding (older files: "")."""

    finding_id: str
    values: Mapping[str, Any]
    mark: str


def _exported(rows: Rows) -> tuple[str, dict[int, _Written]]:
    """The review's id, and the rows as they were written, by number."""
    if len(rows) < 2 or len(rows[0]) < 2 or rows[0][0] != FORMAT_NAME:
        raise _not_ours()
    heads = [str(head) for head in rows[1]]
    found: dict[int, _Written] = {}
    for cells in rows[2:]:
        row = dict(zip(heads, cells, strict=False))
        values = {field: _stored_value(field, row.get(field)) for field in ANSWER_FIELDS}
        found[int(row["number"])] = _Written(
            finding_id=str(row["finding_id"]), values=values, mark=str(row.get("mark") or "")
        )
    return str(rows[0][1]), found


def _stored_value(field: str, value: Any) -> Any:  # noqa: ANN401 (a cell holds anything)
    if field in DAY_FIELDS:
        return value.date() if isinstance(value, datetime) else value
    return unguarded(str(value or ""))


def _table_of(book: Mapping[str, Rows]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows below the headings, by field; rows without any answer or number are left out.

    A column for answers that somebody took out leaves what is stored; a sheet that has all of them comes first.
    """
    for is_whole in (True, False):
        for sheet in book.values():
            rows = enumerate(sheet, 1)
            columns = _columns_in(rows, is_whole=is_whole)
            if columns:
                yield from _rows_below(rows, columns)
                return
    raise InvalidInput(
        gettext_lazy("The table of findings lacks a column: {columns} must be there."),
        code="columns_missing",
        columns=", ".join(str(column.title) for column in COLUMNS if column.is_answer or column.field == "number"),
    )


def _columns_in(rows: Iterator[tuple[int, Sequence[Any]]], *, is_whole: bool) -> dict[int, str]:
    """Read to the headings and say which column holds what; empty where there are none of a table of findings.

    It has the number and all columns for answers, or else the finding itself and some of them.
    """
    titles = _titles()
    for row, cells in rows:
        named = {index: titles[cell_key(cell)] for index, cell in enumerate(cells) if cell_key(cell) in titles}
        fields = set(named.values())
        needed = {"number", *ANSWER_FIELDS} if is_whole else {"number", "message"}
        if needed <= fields and fields & set(ANSWER_FIELDS):
            return named
        if row >= HEADER_SEARCHED_ROWS:
            break
    return {}


def _rows_below(
    rows: Iterator[tuple[int, Sequence[Any]]], columns: Mapping[int, str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for row, cells in rows:
        values = {field: cells[index] if index < len(cells) else None for index, field in columns.items()}
        if any(value not in (None, "") for value in values.values()):
            yield row, values


def _titles() -> dict[str, str]:
    """The headings in both languages: a colleague may read the file in the other one."""
    found: dict[str, str] = {}
    for language in ("ja", "en"):
        with translation.override(language):
            found |= {cell_key(str(column.title)): column.field for column in COLUMNS}
    return found


def _read_row(
    row: int,
    cells: Mapping[str, Any],
    exported: Mapping[int, _Written],
    seen: dict[int, int],
) -> AnswerRow:
    number = _number(cells.get("number"))
    if number not in exported:
        raise BadValueError(_("No. {number} is no finding of this table.").format(number=number))
    if number in seen:
        raise BadValueError(_("No. {number} stands in row {row} already.").format(number=number, row=seen[number]))
    _check_numbered(number, cells, exported)
    seen[number] = row
    values = {field: _value(field, cells[field]) for field in ANSWER_FIELDS if field in cells}
    written = exported[number]
    return AnswerRow(row=row, number=number, finding_id=written.finding_id, values=values, exported=written.values)


def _check_numbered(number: int, cells: Mapping[str, Any], exported: Mapping[int, _Written]) -> None:
    """Raise BadValueError for a row that shows another finding than its number means: rows were numbered anew.

    A row whose texts were edited shows none, and its number counts.
    """
    if not ("place" in cells and "message" in cells):
        return
    mark = mark_of(cells["place"], cells["message"])
    if exported[number].mark in ("", mark):
        return
    others = [other for other, written in exported.items() if written.mark == mark]
    if others:
        raise BadValueError(
            _(
                "The row shows the finding that was No. {other} when the table was written, and has No. {number} now. "
                "Put the numbers back as they were; rows may stand in any order."
            ).format(other=" / ".join(map(str, others)), number=number)
        )


def _number(value: object) -> int:
    text = cell_key(value).removesuffix(".0")
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise BadValueError(_("No. {value} is no number.").format(value=value if value is not None else "-"))
    return int(text)


def _value(field: str, value: Any) -> Any:  # noqa: ANN401 (a cell holds anything)
    if field == "triage":
        return _state(value)
    if field in DAY_FIELDS:
        return read_answer_day(value)
    text = unguarded(str(value if value is not None else "").strip())
    if len(text) > LIMITS[field]:
        raise BadValueError(_("More than {limit} characters: {text}…").format(limit=LIMITS[field], text=text[:20]))
    return text


def _state(value: object) -> str:
    states = {cell_key(code): code for code in Triage.values}
    for language in ("ja", "en"):
        with translation.override(language):
            states |= {cell_key(text): code for code, text in Triage.choices}
    wanted = cell_key(value)
    if not wanted:
        return Triage.OPEN
    if wanted not in states:
        allowed = ", ".join(str(text) for text in Triage.labels)
        raise BadValueError(_("State “{value}” is not one of {allowed}.").format(value=value, allowed=allowed))
    return str(states[wanted])


def read_answer_day(value: object) -> date | None:
    """A date, or what people type for one, in any calendar, spelling and width."""
    if isinstance(value, datetime):
        return value.date()
    if value is None or isinstance(value, date):
        return value
    text = str(value).strip()
    day = read_day(text)
    if text and day is None:
        raise BadValueError(_("“{value}” is no date; write it like 2026/3/31.").format(value=value))
    return day
