"""What a page's form or script asks to change of findings, and to decide of checks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from django.utils.dateparse import parse_date
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from hub.core.errors import InvalidInput
from hub.core.moments import end_of_day
from review.models import VERDICTS, Review, Triage
from review.triage.decisions import TriageChange
from review.triage.verdicts import PERSONS_VERDICTS, CheckToDecide
from review.types import Verdict

_NUMBER = re.compile("[0-9]{1,9}", re.ASCII)
MOST_TOGETHER = 900
"""Findings or checks of one form: they and its other fields are below MAX_BULK and DATA_UPLOAD_MAX_NUMBER_FIELDS."""
USUAL_REASONS: Mapping[str, Promise] = {
    Verdict.PASS: _("I looked at the document: it is as the item asks."),
    Verdict.WARNING: _("I looked at the document: something is to be improved."),
    Verdict.FAIL: _("I looked at the document: it is not as the item asks."),
    Verdict.NOT_APPLICABLE: _("The item does not apply to this document."),
}


def read_change(asked: Mapping[str, Any]) -> TriageChange:
    """Read {triage, reason, comment, expires_at, assignee, due_on, revision}, from JSON or from the fields of a form.

    Raises InvalidInput for a day, or a revision, that is none.
    """
    return TriageChange(
        triage=str(asked["triage"]) if asked.get("triage") else None,
        reason=str(asked.get("reason") or ""),
        comment=str(asked.get("comment") or ""),
        expires_at=end_of_day(_day("expires_at", asked["expires_at"])) if asked.get("expires_at") else None,
        assignee=str(asked["assignee"]) if asked.get("assignee") is not None else None,
        due_on=_day("due_on", asked["due_on"]) if asked.get("due_on") else asked.get("due_on"),
        revision=read_revision(asked),
    )


def read_finding_ids(review: Review, asked: Mapping[str, Any]) -> list[str]:
    """Read which findings are asked for; they must be of the review that the page is about.

    Raises InvalidInput. Expects what ``get_review`` selects.
    """
    known = {one.public_id for result in review.results.all() for one in result.findings.all()}
    ids = asked.get("finding_ids")
    if not isinstance(ids, list) or not ids or not set(map(str, ids)) <= known:
        raise InvalidInput(_("finding_ids: name findings of this review."), field="finding_ids")
    return [str(one) for one in ids]


def read_seen_findings(review: Review, asked: Mapping[str, Any]) -> dict[str, int]:
    """Read which findings of a review a script means, from {finding_ids, revisions}: the revision of each that the
    person saw, by their ids. Of one finding its ``revision`` will do, which is what pages sent that are still open.

    Raises InvalidInput, also for a page that doesn't say what it showed. Expects what ``get_review`` selects.
    """
    ids = read_finding_ids(review, asked)
    revisions = asked.get("revisions", [asked.get("revision") if len(ids) == 1 else None] * len(ids))
    if not isinstance(revisions, list) or len(revisions) != len(ids):
        raise InvalidInput(_("revisions: one of each finding."), field="revisions")
    return {one: _read_seen(revision) for one, revision in zip(ids, revisions, strict=True)}


def read_findings_of_form(review: Review, marked: Sequence[str]) -> dict[str, int]:
    """Read which findings of a review a form means: the revision of each that the person saw, by their ids.

    The boxes' values are the id and the revision with ":" between. Raises InvalidInput, also where no box is marked.
    Expects what ``get_review`` selects.
    """
    if not marked:
        raise InvalidInput(
            _("No finding is chosen. Mark the boxes beside the findings first, or press a button at one finding."),
            field="finding",
        )
    pairs = (one.rpartition(":") for one in marked)
    seen = {finding_id: _read_seen(revision) for finding_id, _colon, revision in pairs}
    read_finding_ids(review, {"finding_ids": list(seen)})
    return seen


def read_change_of_many(asked: Mapping[str, str]) -> TriageChange:
    """Read what a form asks to change of several findings: what its button decides, or else who works on them and until
    when; of these two what is empty stays. A waiver's reason stands beside its day, as ``waiver_reason``, or where
    those of other decisions stand. Raises InvalidInput, also where there is nothing to change.
    """
    if asked.get("triage") == Triage.WAIVED:
        reason = asked.get("waiver_reason") or asked.get("reason")
        return read_change({"triage": Triage.WAIVED, "reason": reason, "expires_at": asked.get("expires_at")})
    if asked.get("triage"):
        return read_change({name: asked.get(name) for name in ("triage", "reason")})
    given = {name: asked[name] for name in ("assignee", "due_on") if asked.get(name)}
    if not given:
        raise InvalidInput(_("Choose who is to work on the findings, or the day when they are due."), field="assignee")
    return read_change(given)


class VerdictButton(NamedTuple):
    """A verdict that a person may give: its name, its key on the desk, the reason that is taken where none is typed."""

    code: str
    name: str
    key: str
    usual_reason: str


def verdict_buttons() -> list[VerdictButton]:
    """The buttons of the verdicts, in the active language."""
    names = dict(VERDICTS)
    return [
        VerdictButton(code, str(names[code]), str(key), str(USUAL_REASONS[code]))
        for key, code in enumerate(PERSONS_VERDICTS, start=1)
    ]


def read_verdict(asked: Mapping[str, Any]) -> tuple[str, str]:
    """Read {verdict, reason}: the verdict as it is given, and its reason, the usual one where none is typed."""
    verdict = str(asked.get("verdict") or "")
    return verdict, str(asked.get("reason") or "").strip() or str(USUAL_REASONS.get(verdict, ""))


def read_checks(asked: object) -> list[CheckToDecide]:
    """Read which checks are meant, as the person saw them, from JSON: a list of {id, revision}. Raises InvalidInput."""
    if not isinstance(asked, list) or not all(isinstance(one, dict) for one in asked):
        raise InvalidInput(_("checks: a list of {example}."), example="{id, revision}", field="checks")
    return [_check(one.get("id"), one.get("revision")) for one in asked]


def read_checks_of_form(marked: Sequence[str]) -> list[CheckToDecide]:
    """As ``read_checks``, from the boxes of a form, whose values are the id and the revision with ":" between.

    Raises InvalidInput also where no box is marked.
    """
    if not marked:
        raise InvalidInput(
            _("No check is chosen. Mark the boxes beside the checks' names first, or press a button at one check."),
            field="check",
        )
    pairs = (one.rpartition(":") for one in marked)
    return [_check(code, revision) for code, _colon, revision in pairs]


def _check(code: object, revision: object) -> CheckToDecide:
    seen = read_revision({"revision": revision})
    if seen is None:
        raise InvalidInput(_("checks: a list of {example}."), example="{id, revision}", field="checks")
    return CheckToDecide(check_item_id=str(code or ""), revision=seen)


def read_revision(asked: Mapping[str, Any]) -> int | None:
    """Read the ``revision`` that the person has seen; None where none is given. Raises InvalidInput."""
    given = asked.get("revision")
    return None if given is None else _read_seen(given)


def _read_seen(revision: object) -> int:
    """Read a revision that has to be given. Raises InvalidInput."""
    if not _NUMBER.fullmatch(str(revision)):
        raise InvalidInput(_("Load the page again: it no longer says which state it is about."), field="revision")
    return int(str(revision))


def _day(field: str, given: object) -> date:
    text = str(given)
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise InvalidInput(_("“{value}” is no date; write it like 2026/3/31."), value=text, field=field)
    return day
