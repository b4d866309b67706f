"""What pages say of findings and checks that somebody else changed meanwhile: by what stands now, not by revisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _

from hub.core.errors import Conflict
from hub.core.languages import in_language
from review.models import Triage
from review.report.facts import label, verdict_label
from review.runs.schemas import ReviewOut

MOST_NAMED = 5


def overtaken_in_words(overtaken: Sequence[Conflict], facts: ReviewOut, names: Mapping[str, str], *, saved: int) -> str:
    """Say in the active language which rows stayed as somebody else left them, and how many are ``saved``."""
    lines = [_row_in_words(one, facts, names) for one in overtaken[:MOST_NAMED]]
    if len(overtaken) > MOST_NAMED:
        lines.append(_("And {number} more.").format(number=len(overtaken) - MOST_NAMED))
    if saved:
        lines.insert(0, _("Saved: {saved}. Not saved: {left}.").format(saved=saved, left=len(overtaken)))
    between = in_language("", " ")
    return between.join([*lines, _("Look at it, and decide anew if you see it otherwise.")])


def _row_in_words(conflict: Conflict, facts: ReviewOut, names: Mapping[str, str]) -> str:
    login = str(conflict.data["who"])
    who = names.get(login, login) if login != "-" else _("somebody else")
    for finding in facts.findings:
        if finding.id == conflict.data.get("finding_id"):
            text = _("Meanwhile {who} changed finding {number}: it is “{state}” now.")
            return text.format(who=who, number=finding.number, state=label(Triage.choices, finding.triage))
    for check in facts.results:
        if check.check_item_id == conflict.data.get("check_item_id"):
            text = _("Meanwhile {who} changed {check}: it is “{verdict}” now.")
            return text.format(who=who, check=check.check_item_id, verdict=verdict_label(check))
    return str(conflict)


def row_of(conflict: Conflict) -> str:
    """The finding, by its id, or the check, by its item's code, that somebody else changed."""
    return str(conflict.data.get("finding_id") or conflict.data["check_item_id"])


def ids_on_page(overtaken: Sequence[Conflict]) -> list[str]:
    """The ids of the rows on the page: a finding's own, or ``check-`` and an item's code."""
    return [row_of(one) if "finding_id" in one.data else f"check-{row_of(one)}" for one in overtaken]
