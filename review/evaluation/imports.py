"""Importing cases from JSON Lines, JSON, Excel, or a list of judged statements: a preview first, all rows or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.bounds import CURATED_JSON, check_json
from hub.core.errors import InvalidInput, LimitExceeded
from hub.core.languages import shown
from hub.evaluation.cases import (
    MOST_ROWS,
    REVIEW,
    BadRow,
    ParsedCase,
    Row,
    UnreadableCases,
    is_workbook,
    json_rows,
    retrieval_case,
    review_case,
    table_rows,
)
from hub.evaluation.datasets import get_dataset, save_case
from knowledge.evaluation.measuring import search_of
from knowledge.models import Document
from knowledge.parsers.errors import ParseError
from knowledge.parsers.tables import read_workbook
from review.evaluation import gold_list
from review.evaluation.schemas import ImportPreview

BAD_ROWS_SHOWN = 5
MAX_FILE_BYTES = 10_000_000
MAX_COLUMNS = 100
FORMATS = ("auto", "cases", "gold_list")


def rows_of(cases: Sequence[Any]) -> list[Row]:
    """Number rows that came as JSON values."""
    return [Row(number=number, fields=fields) for number, fields in enumerate(cases, 1)]


def rows_in(content: bytes, filename: str) -> list[Row]:
    """Read the rows of a file. Raises InvalidInput when it is none that cases can be read from, LimitExceeded."""
    _check_size(len(content))
    try:
        if not is_workbook(content):
            return json_rows(content, filename=filename)
        sheets = read_workbook(content, max_rows=MOST_ROWS + 1, max_columns=MAX_COLUMNS)
        return table_rows(sheets[0].rows if sheets else ())
    except (UnreadableCases, ParseError) as error:
        reason = shown(error.text) if isinstance(error, ParseError) else str(error)
        raise InvalidInput(_("No cases can be read: {reason}."), code="unreadable_cases", reason=reason) from error


def rows_in_file(path: Path, filename: str) -> list[Row]:
    """Read the rows of an uploaded file; errors as in `rows_in`."""
    _check_size(path.stat().st_size)  # before it is read into memory
    return rows_in(path.read_bytes(), filename)


def _check_size(size: int) -> None:
    if size > MAX_FILE_BYTES:
        raise LimitExceeded(_("A file of cases may have {limit} bytes at most."), limit=MAX_FILE_BYTES)


def preview_cases(
    *, principal: Principal, dataset: str, rows: Sequence[Row], row_format: str = "auto"
) -> ImportPreview:
    """Say what importing the rows would change, and what is wrong in which. Nothing is stored.

    Raises NotFound, and InvalidInput for an unknown format or too many rows.
    """
    principal.require_hub_curator()
    found = get_dataset(principal, dataset)
    if row_format not in FORMATS:
        raise InvalidInput(_("format: expected one of {allowed}."), allowed=", ".join(FORMATS))
    if len(rows) > MOST_ROWS:
        raise InvalidInput(_("At most {limit} cases are read at once."), limit=MOST_ROWS)
    wanted, skipped = _converted(rows, row_format)
    cases: dict[str, ParsedCase] = {}
    bad: list[BadRow] = []
    for row in wanted:
        try:
            case = _parsed(row)
            cases[f"{case.kind}:{case.digest}"] = case
        except ValueError as error:
            bad.append(BadRow(row=row.number, reason=str(error)))
    stored = {f"{case.kind}:{case.digest}": (case.input, case.expected, case.weight) for case in found.cases.iterator()}
    same = sum(stored.get(key) == (case.input, case.expected, case.weight) for key, case in cases.items())
    known = sum(key in stored for key in cases)
    return ImportPreview(
        dataset=found,
        cases=tuple(cases.values()),
        created=len(cases) - known,
        replaced=known - same,
        unchanged=same,
        bad=tuple(bad),
        skipped=tuple(skipped),
        unknown_documents=tuple(_unknown_documents(principal, cases.values())),
    )


def import_cases(*, principal: Principal, dataset: str, rows: Sequence[Row], row_format: str = "auto") -> ImportPreview:
    """Store the rows' cases; a question that is there already gets the new answer. All of them, or none.

    Raises InvalidInput naming the rows that can't be read, and what :func:`preview_cases` raises.
    """
    preview = preview_cases(principal=principal, dataset=dataset, rows=rows, row_format=row_format)
    if preview.bad or not preview.cases:
        shown = "; ".join(f"{row.row}: {row.reason}" for row in preview.bad[:BAD_ROWS_SHOWN])
        raise InvalidInput(
            _("Nothing was imported: {count} of {total} rows make no case. {shown}"),
            code="bad_cases",
            count=len(preview.bad),
            total=len(rows),
            shown=shown or "-",
        )
    with transaction.atomic():
        for case in preview.cases:
            save_case(preview.dataset, case)
        record_event(
            principal=principal,
            action="EVALUATION_IMPORT",
            resource=f"dataset:{preview.dataset.code}",
            created=preview.created,
            replaced=preview.replaced,
        )
    return preview


def _converted(rows: Sequence[Row], row_format: str) -> tuple[list[Row], list[BadRow]]:
    """Turn a gold list into rows of cases; rows of cases stay as they are."""
    readable = [row for row in rows if not row.problem]
    is_gold = bool(readable) and all(gold_list.is_gold_row(row.fields) for row in readable)
    if row_format == "cases" or (row_format == "auto" and not is_gold):
        return list(rows), []
    if not is_gold:
        raise InvalidInput(_("A gold list needs the fields {fields} in every row."), fields=", ".join(gold_list.FIELDS))
    cases, skipped = gold_list.to_cases(readable)
    return cases + [row for row in rows if row.problem], skipped


def _parsed(row: Row) -> ParsedCase:
    """Read a row of either kind. Raises ValueError."""
    if row.problem:
        raise ValueError(row.problem)
    is_search = isinstance(row.fields, dict) and "query" in row.fields
    case = retrieval_case(row.fields) if is_search else review_case(row.fields)
    try:
        for name in ("input", "expected"):
            check_json(getattr(case, name), name, CURATED_JSON)
    except InvalidInput as error:
        raise ValueError(str(error)) from error
    if is_search:
        search_of(case.input)
    return case


def _unknown_documents(principal: Principal, cases: Iterable[ParsedCase]) -> list[str]:
    named = {case.input["document"] for case in cases if case.kind == REVIEW}
    visible = Document.objects.visible_to(principal).filter(Q(public_id__in=named) | Q(path__in=named))
    known = {name for pair in visible.values_list("public_id", "path") for name in pair}
    return sorted(named - known)
