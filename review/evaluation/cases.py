"""Evaluation cases from what people decided, and from files: JSON Lines, JSON, Excel, a gold list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.access.services import record_event
from hub.core.bounds import CURATED_JSON, check_json
from hub.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
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
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from knowledge.evaluation.measuring import search_of
from knowledge.models import Document
from knowledge.parsers.errors import ParseError
from knowledge.parsers.tables import read_workbook
from review.evaluation import gold_list
from review.evaluation.datasets import create_dataset, record, require_reader
from review.evaluation.schemas import ImportPreview
from review.models import CheckResult, Finding, Review, Triage
from review.runs.related import readable_related, require_all_findings
from review.triage.verdicts import HUMAN
from review.types import Verdict

LOCATION_CHARS = 200
OWN_DATASET = "triage"

# What a decision says of the document. An open finding says nothing yet.
EXPECTED_BY_TRIAGE = {
    Triage.ACCEPTED: "fail",
    Triage.FIXED: "fail",
    Triage.WAIVED: "fail",
    Triage.REJECTED: "pass",
}
EXPECTED_BY_VERDICT = {Verdict.PASS: "pass", Verdict.WARNING: "fail", Verdict.FAIL: "fail"}
BAD_ROWS_SHOWN = 5
MAX_FILE_BYTES = 10_000_000
MAX_COLUMNS = 100
FORMATS = ("auto", "cases", "gold_list")


def case_from_finding(
    *, principal: Principal, finding_id: str, dataset: str, expected_verdict: str = ""
) -> tuple[EvaluationCase, bool]:
    """Keep what a person decided about a finding as a case: *fail* for a true one, *pass* for a false alarm.

    Without ``expected_verdict`` the finding's state says it. The second value is whether the case is new. Raises
    NotFound for a dataset or finding that is not there for the caller, InvalidInput for another verdict, Conflict for
    an open finding.
    """
    found = _dataset(principal, dataset)
    findings = Finding.objects.visible_to(principal, Scope.TRIAGE)
    finding = (
        findings.select_related("result__item_version__item", "result__review").filter(public_id=finding_id).first()
    )
    if finding is None:
        raise NotFound(_('There is no finding "{finding_id}".'), code="finding_not_found", finding_id=finding_id)
    expected = expected_verdict or EXPECTED_BY_TRIAGE.get(Triage(finding.triage), "")
    if not expected:
        raise Conflict(_("Nobody has decided the finding yet: accept or reject it first."), code="not_decided")
    return _keep(principal, found, _fields_of(principal, finding) | {"expected_verdict": expected}, finding=finding_id)


def case_from_result(
    *, principal: Principal, review_id: str, check_item_id: str, dataset: str
) -> tuple[EvaluationCase, bool]:
    """Keep a person's verdict on a check as a case of its item; the second value is whether it is new.

    Raises NotFound for a dataset, review or check that is not there for the caller, Conflict when no person decided.
    """
    found = _dataset(principal, dataset)
    visible = Review.objects.visible_to(principal, Scope.TRIAGE).filter(public_id=review_id)
    results = CheckResult.objects.select_related("item_version__item", "review").filter(review__in=visible.values("pk"))
    result = results.filter(item_version__item__code=check_item_id).first()
    if result is None:
        raise NotFound(
            _('The review has no check "{check_item_id}".'), code="result_not_found", check_item_id=check_item_id
        )
    if result.method != HUMAN:
        raise Conflict(_("Nobody has decided the check {item} yet."), code="not_decided", item=check_item_id)
    expected = EXPECTED_BY_VERDICT.get(Verdict(result.verdict))
    if expected is None:
        raise Conflict(
            _("The check {item} does not apply to the document, so that it is no case of its item."),
            code="not_applicable",
            item=check_item_id,
        )
    require_all_findings(result, principal)
    fields = {
        **_subject_of(principal, result),
        "item": result.item_version.name_ja,
        "note": f"{review_id} {check_item_id}",
        "expected_verdict": expected,
    }
    return _keep(principal, found, fields, review=review_id, check_item_id=check_item_id)


def ensure_dataset(principal: Principal, code: str) -> EvaluationDataset:
    """Find a dataset, or make it for a curator of the hub. Raises NotFound, Forbidden, InvalidInput, Conflict."""
    found = EvaluationDataset.objects.visible_to(principal).filter(code=code).first()
    return found or create_dataset(principal=principal, code=code)


def _dataset(principal: Principal, code: str) -> EvaluationDataset:
    principal.require(Scope.TRIAGE)
    require_reader(principal)
    found = get_dataset(principal, code)
    if found.guards:
        principal.require_hub(HubRight.EVALUATION)  # its cases decide what goes live for everybody
    return found


def _keep(
    principal: Principal, dataset: EvaluationDataset, fields: Mapping[str, Any], **origin: str
) -> tuple[EvaluationCase, bool]:
    try:
        case = review_case(dict(fields))
    except ValueError as error:
        raise InvalidInput(_("This makes no case: {reason}"), reason=str(error)) from error
    with transaction.atomic():
        row, is_new = save_case(dataset, case)
        action = "CASE_FROM_FINDING" if "finding" in origin else "CASE_FROM_RESULT"
        record(principal, action, dataset.code, expected=case.expected["verdict"], **origin)
    return row, is_new


def _subject_of(principal: Principal, result: CheckResult) -> dict[str, Any]:
    """Which version of which document, beside which others that the caller may read, was checked for what."""
    review = result.review
    return {
        "document_id": review.document_id_text,
        "version": review.version_number,
        "related_documents": readable_related(principal, review),
        "check_item_id": result.item_version.item.code,
    }


def _fields_of(principal: Principal, finding: Finding) -> dict[str, Any]:
    """A finding as a case: its item and rule, and what it is about."""
    fields: dict[str, Any] = {
        **_subject_of(principal, finding.result),
        "rule_id": finding.rule_id,
        "item": finding.message_ja,
        "note": f"{finding.result.review.public_id} {finding.public_id}",
    }
    data = finding.data
    if data.get("topic"):
        return fields | {"topic": data["topic"]}
    if data.get("identifiers"):
        fields["identifiers"] = list(data["identifiers"])
    if data.get("variants") or data.get("expressions"):
        fields["variants"] = list(data.get("variants") or data["expressions"])
    quotes = [quote["quote"] for quote in finding.evidence if quote["quote"].strip()]
    if quotes:
        fields["location"] = quotes[0].strip().split("\n")[0][:LOCATION_CHARS]
    return fields


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
    principal.require_hub(HubRight.EVALUATION)
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
            principal,
            "EVALUATION_IMPORT",
            f"dataset:{preview.dataset.code}",
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
