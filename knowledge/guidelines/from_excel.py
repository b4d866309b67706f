"""A guideline as an Excel sheet: one article per row under a header row."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from hub.core.languages import shown
from knowledge.guidelines.drafts import ImportProblem, ParsedGuideline
from knowledge.guidelines.fields import NAMES, article_from, field_named
from knowledge.parsers.errors import ParseError
from knowledge.parsers.tables import Sheet, read_workbook

MAX_ROWS = 5_000
MAX_COLUMNS = 50
HEADER_WITHIN = 20

Row = tuple[int, tuple[str, ...]]


def read_excel(content: bytes) -> ParsedGuideline:
    """Read the first sheet that has a header with a number and a title column. Formulas count by their last value."""
    try:
        sheets = [list(_rows(sheet)) for sheet in read_workbook(content, max_rows=MAX_ROWS, max_columns=MAX_COLUMNS)]
    except ParseError as error:
        return _refused(shown(error.text))
    for rows in sheets:
        if (header := _header(rows)) is not None:
            return _articles(rows, *header)
    return _refused(
        _("No sheet has a header row with the columns {number} and {title}.").format(
            number=NAMES["number"][0], title=NAMES["title"][0]
        )
    )


def _refused(message: str) -> ParsedGuideline:
    return ParsedGuideline(articles=(), problems=(ImportProblem(row=1, message=message),))


def _rows(sheet: Sheet) -> Iterator[Row]:
    for number, row in enumerate(sheet.rows, start=1):
        values = tuple(map(_text, row))
        if any(values):
            yield number, values


def _text(value: object) -> str:
    """A cell as text; a number that Excel made of 3 or 3.2 reads as it was typed."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).strip()


def _header(rows: list[Row]) -> tuple[int, dict[int, str]] | None:
    for number, values in rows[:HEADER_WITHIN]:
        columns = {index: field for index, value in enumerate(values) if (field := field_named(value))}
        if {"number", "title"} <= set(columns.values()):
            return number, columns
    return None


def _articles(rows: list[Row], header: int, columns: dict[int, str]) -> ParsedGuideline:
    drafts = tuple(
        article_from(number, {field: values[index] for index, field in columns.items() if index < len(values)})
        for number, values in rows
        if number > header
    )
    problems = () if drafts else (ImportProblem(row=header, message=_("No articles stand below the header row.")),)
    return ParsedGuideline(articles=drafts, problems=problems)
