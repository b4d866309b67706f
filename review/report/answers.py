"""Reading answers back from a 指摘管理表: what they would change, row by row, and changing it.

The workbook's hidden sheet says what each answer was when the file was written. An answer counts as changed when it
differs from that; it is refused when somebody else changed the same answer in the hub meanwhile.
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
from hub.core.errors import InvalidInput
from hub.core.moments import end_of_day
from review.models import Finding, Triage
from review.report.answer_file import AnswerRow, RowError, read_answer_file
from review.report.facts import local_day
from review.runs.reviews import get_review
from review.triage.decisions import ANSWER_FIELDS, TriageChange, answer_of, triage_finding

FIELD_NAMES: Mapping[str, Promise] = {
    "plan": _("Planned action"),
    "text": _("Answer"),
    "answered_by": _("Answered by"),
    "answered_on": _("Answered on"),
    "triage": _("State"),
    "expires_at": _("Waived until"),
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
    """What a file would change. With errors only the other rows can be read in."""

    review_id: str
    changes: Sequence[AnswerChange]
    errors: Sequence[RowError]
    unchanged: int


def preview_answers(principal: Principal, review_id: str, content: bytes) -> AnswerImport:
    """Say what a file's answers would change; nothing of it is written.

    Raises NotFound, InvalidInput (no 指摘管理表 of this review).
    """
    found = _preview(principal, review_id, content)
    record_event(principal, "RESULT_VIEW", f"review:{review_id}", part="answers")
    return found


def _preview(principal: Principal, review_id: str, content: bytes) -> AnswerImport:
    review = get_review(principal, review_id, scope=Scope.TRIAGE)
    sheet = read_answer_file(content)
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
    return AnswerImport(review_id=review_id, changes=changes, errors=errors, unchanged=unchanged)


def _changed_fields(row: AnswerRow, finding: Finding) -> dict[str, tuple[Any, Any]]:
    """The fields that the file changes. Raises InvalidInput when one was changed in the hub, too, or can't be."""
    stored = _stored(finding)
    changed = {}
    for field, value in row.values.items():
        if value == row.exported.get(field) or value == stored[field]:
            continue
        if stored[field] != row.exported.get(field):
            raise InvalidInput(
                _("{field} was changed in the hub meanwhile: it is {stored} there. Export the table again."),
                field=str(FIELD_NAMES[field]),
                stored=_shown(field, stored[field]) or "-",
            )
        changed[field] = (stored[field], value)
    _check_state({**stored, **{field: new for field, (_old, new) in changed.items()}})
    return changed


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
    decided = {"triage": finding.triage, "expires_at": local_day(finding.expires_at)}
    return asdict(answer_of(finding)) | decided


def _shown(field: str, value: Any) -> str:  # noqa: ANN401 (a text, a day or nothing)
    if value is None:
        return ""
    return str(Triage(value).label) if field == "triage" else str(value)


@transaction.atomic
def apply_answers(principal: Principal, review_id: str, content: bytes) -> AnswerImport:
    """Read a file's answers in; rows with errors are left as they are. Raises what ``preview_answers`` does.

    What can only be known while writing (signed off meanwhile, say) refuses the whole file.
    """
    found = _preview(principal, review_id, content)
    rows = Finding.objects.select_related("answer")
    findings = rows.in_bulk([change.finding_id for change in found.changes], field_name="public_id")
    for change in found.changes:
        _apply(principal, findings[change.finding_id], change)
    record_event(
        principal, "ANSWERS_IMPORT", f"review:{review_id}", changed=len(found.changes), refused=len(found.errors)
    )
    return found


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
        answer=answer if given else None,
    )
    if wanted.triage or wanted.answer:
        try:
            triage_finding(principal=principal, finding_id=change.finding_id, change=wanted)
        except InvalidInput as error:
            raise InvalidInput(_("Row {row}: {reason}"), row=change.row, reason=str(error)) from error
