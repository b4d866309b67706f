"""What a page's form or script asks to change of findings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from django.utils.dateparse import parse_date
from django.utils.translation import gettext_lazy as _

from hub.core.errors import InvalidInput
from hub.core.moments import end_of_day
from review.models import Review
from review.triage.decisions import TriageChange

_NUMBER = re.compile("[0-9]{1,9}", re.ASCII)


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
        revision=_revision(asked.get("revision")),
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


def _revision(given: object) -> int | None:
    if given is None:
        return None
    if not _NUMBER.fullmatch(str(given)):
        raise InvalidInput(_("Load the page again: it no longer says which state it is about."), field="revision")
    return int(str(given))


def _day(field: str, given: object) -> date:
    text = str(given)
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise InvalidInput(_("“{value}” is no date; write it like 2026/3/31."), value=text, field=field)
    return day
