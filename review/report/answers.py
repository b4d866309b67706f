"""Reading answers back from a 指摘管理表 or an annotated copy: what they would change, row by row, and changing it.

The workbook's hidden sheet says what each answer was when the file was written. An answer counts as changed when it
differs from that; it is refused when somebody else changed the same answer in the hub meanwhile. An annotated copy says
which revision of a finding it was written from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import InvalidInput, LimitExceeded
from hub.core.moments import end_of_day
from hub.rest.uploads import too_large
from review.models import COUNTED, Finding, Triage
from review.report.annotated import could_be_copy, read_copy, take_next_version, without_our_notes
from review.report.answer_file import AnswerFile, AnswerRow, RowError, read_answer_file
from review.report.facts import ReportOptions, load_facts, local_day
from review.runs.reviews import get_review
from review.triage.decisions import ANSWER_FIELDS, TriageChange, answer_of, triage_finding

FIELD_NAMES: Mapping[str, Promise] = {
    "plan": _("Planned action"),
    "text": _("Answer"),
    "answered_by": _("Answered by"),
    "answered_on": _("Answered on"),
    "triage": _("State"),
    "expires_at": _("Waived until"),
    "due_on": _("Due on"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChange:
    """One row whose answers differ: each changed field with what is stored and what the file says."""

    row: int
    number: int
    finding_id: str
    message: str
    fields: Mapping[str, tuple[Any, Any]]

    @property
    def shown(self) -> list[tuple[str, str, str]]:
        """Name, stored and new value of each changed field, as texts."""
        return [
            (str(FIELD_NAMES[field]), _shown(field, old), _shown(field, new))
            for field, (old, new) in self.fields.items()
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerImport:
    """What a file would change. With errors only the other rows can be read in.

    ``is_copy``: it is an annotated copy, which may become the document's next version; ``next_review`` is the id of the
    review of that version, once it has been taken in.
    """

    review_id: str
    changes: Sequence[AnswerChange]
    errors: Sequence[RowError]
    unchanged: int
    is_copy: bool = False
    next_review: str = ""


def preview_answers(principal: Principal, review_id: str, content: bytes) -> AnswerImport:
    """Say what a file's answers would change; nothing of it is written.

    Raises NotFound, InvalidInput (neither a 指摘管理表 nor an annotated copy of this review).
    """
    found = _preview(principal, review_id, content)
    record_event(principal, "RESULT_VIEW", f"review:{review_id}", part="answers")
    return found


MOST_COPY_BYTES = 50 * 1024 * 1024
_UNKNOWN = object()


def _preview(principal: Principal, review_id: str, content: bytes) -> AnswerImport:
    get_review(principal, review_id, scope=Scope.TRIAGE)  # before anything is read
    return _compared(principal, review_id, *_read(principal, review_id, content))


def _compared(principal: Principal, review_id: str, sheet: AnswerFile, is_copy: bool) -> AnswerImport:
    review = get_review(principal, review_id, scope=Scope.TRIAGE)
    if sheet.review_id != review_id:
        raise InvalidInput(
            _("The file belongs to the review {other}, not to {review_id}."),
            code="other_review",
            other=sheet.review_id,
            review_id=review_id,
        )
    findings = {one.public_id: one for result in review.results.all() for one in result.findings.all()}
    errors = list(sheet.errors)
    changes: list[AnswerChange] = []
    unchanged = 0
    for row in sheet.rows:
        finding = findings.get(row.finding_id)
        if finding is None:
            errors.append(RowError(row=row.row, message=str(_("This review has no such finding any more."))))
            continue
        try:
            fields = _changed_fields(row, finding)
        except InvalidInput as error:
            errors.append(RowError(row=row.row, message=str(error)))
            continue
        if fields:
            found = {name: getattr(row, name) for name in ("row", "number", "finding_id")}
            changes.append(AnswerChange(**found, message=finding.message, fields=fields))
        else:
            unchanged += 1
    errors.sort(key=lambda error: error.row)
    return AnswerImport(review_id=review_id, changes=changes, errors=errors, unchanged=unchanged, is_copy=is_copy)


def _read(principal: Principal, review_id: str, content: bytes) -> tuple[AnswerFile, bool]:
    """Read a file as what it is, and say whether it is an annotated copy."""
    if len(content) > MOST_COPY_BYTES:
        raise too_large(MOST_COPY_BYTES)
    try:
        return read_answer_file(content), False
    except (InvalidInput, LimitExceeded) as error:
        if error.error_code == "columns_missing" or not could_be_copy(content):
            raise
        facts = load_facts(principal, review_id, baseline="", options=ReportOptions())
        copy = read_copy(principal, facts, content)
        if copy is None:
            raise
        return copy, True


def _changed_fields(row: AnswerRow, finding: Finding) -> dict[str, tuple[Any, Any]]:
    """The fields that the file changes. Raises InvalidInput when one was changed in the hub, too, or can't be."""
    stored = _stored(finding)
    changed = {}
    # A copy of an older revision says of no field what it was: whatever differs was changed in the hub, too.
    exported = stored if row.revision == finding.revision else row.exported
    for field, value in row.values.items():
        if value == exported.get(field, _UNKNOWN) or value == stored[field] or _is_decided(row, field, stored):
            continue
        if stored[field] != exported.get(field, _UNKNOWN):
            raise InvalidInput(
                _("{field} was changed in the hub meanwhile: it is {stored} there. Export the table again."),
                field=str(FIELD_NAMES[field]),
                stored=_shown(field, stored[field]) or "-",
            )
        changed[field] = (stored[field], value)
    _check_state({**stored, **{field: new for field, (_old, new) in changed.items()}})
    return changed


def _is_decided(row: AnswerRow, field: str, stored: Mapping[str, Any]) -> bool:
    """Whether a copy proposes a state for a finding that does not count any more: what was decided stays."""
    return row.revision is not None and field == "triage" and stored["triage"] not in COUNTED


def _check_state(wanted: Mapping[str, Any]) -> None:
    if wanted["triage"] != Triage.WAIVED:
        return
    if not wanted["text"]:
        raise InvalidInput(_("A waiver needs its reason in the column for the answer."))
    if wanted["expires_at"] is None:
        raise InvalidInput(_("A waiver needs the day when it ends."))
    if wanted["expires_at"] < timezone.localdate():
        raise InvalidInput(_("A waiver must end in the future."))


def _stored(finding: Finding) -> dict[str, Any]:
    decided = {"triage": finding.triage, "expires_at": local_day(finding.expires_at), "due_on": finding.due_on}
    return asdict(answer_of(finding)) | decided


def _shown(field: str, value: Any) -> str:  # noqa: ANN401 (a text, a day or nothing)
    if value is None:
        return ""
    return str(Triage(value).label) if field == "triage" else str(value)


def apply_answers(principal: Principal, review_id: str, content: bytes, *, next_version: bool = False) -> AnswerImport:
    """Read a file's answers in; rows with errors are left as they are. Raises what ``preview_answers`` does.

    What can only be known while writing (signed off meanwhile, say) refuses the whole file. With ``next_version`` an
    annotated copy becomes the document's next version, too, and is reviewed: all of it, or nothing.
    """
    get_review(principal, review_id, scope=Scope.TRIAGE)  # before anything is read
    # Children open the file, which may take a minute: before the transaction, whose locks others wait for.
    sheet, is_copy = _read(principal, review_id, content)
    if next_version and not is_copy:
        raise InvalidInput(_("Only an annotated copy can become the next version."), code="no_copy")
    next_content = without_our_notes(principal, get_review(principal, review_id), content) if next_version else None
    with transaction.atomic():
        return _apply_all(principal, _compared(principal, review_id, sheet, is_copy), next_content)


def _apply_all(principal: Principal, found: AnswerImport, next_content: bytes | None) -> AnswerImport:
    # The next version first: what is replaced in it for anonymity is replaced by a child, before any row is locked.
    next_review = ""
    if next_content is not None:
        reviewed = get_review(principal, found.review_id, scope=Scope.TRIAGE)
        next_review = take_next_version(principal, reviewed, next_content).public_id
    rows = Finding.objects.select_related("answer")
    findings = rows.in_bulk([change.finding_id for change in found.changes], field_name="public_id")
    for change in found.changes:
        _apply(principal, findings[change.finding_id], change)
    record_event(
        principal, "ANSWERS_IMPORT", f"review:{found.review_id}", changed=len(found.changes), refused=len(found.errors)
    )
    return replace(found, next_review=next_review)


def _apply(principal: Principal, finding: Finding, change: AnswerChange) -> None:
    new = {field: value for field, (_old, value) in change.fields.items()}
    given = {name: new[name] for name in ANSWER_FIELDS if name in new}
    answer = replace(answer_of(finding), **given)
    state, until = new.get("triage"), new.get("expires_at", local_day(finding.expires_at))
    if state is None and "expires_at" in new and finding.triage == Triage.WAIVED:
        state = finding.triage
    wanted = TriageChange(
        triage=state,
        reason=answer.text if state else "",
        expires_at=end_of_day(until) if state == Triage.WAIVED and until else None,
        due_on=(new["due_on"] or "") if "due_on" in new else None,
        answer=answer if given else None,
    )
    if wanted != TriageChange():
        try:
            triage_finding(principal=principal, finding_id=change.finding_id, change=wanted)
        except InvalidInput as error:
            raise InvalidInput(_("Row {row}: {reason}"), row=change.row, reason=str(error)) from error
