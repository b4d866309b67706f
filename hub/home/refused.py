"""What was refused on the page of a review, and how the page says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from hub.core.errors import Conflict, HubError
from review.models import Triage
from review.report.facts import label, verdict_label
from review.runs.schemas import ReviewOut

TYPED = ("reason", "waiver_reason", "comment", "expires_at", "due_on")
"""The fields that people type in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What somebody asked to change, as they typed it, and why it was not done.

    ``at`` is what it was about: the id of a finding, several "findings", "verdicts" of checks, or the "sign-off".
    """

    at: str
    typed: Mapping[str, str]
    error: HubError
    chosen: frozenset[str] = frozenset()
    """The values of the boxes that were marked: of findings and checks, each in the revision that was seen."""

    @property
    def words(self) -> list[str]:
        """What was typed, of the fields that people type in."""
        return [self.typed[name] for name in TYPED if self.typed.get(name)]


def in_words_of_the_page(refused: Refused, facts: ReviewOut, names: Mapping[str, str]) -> HubError:
    """Why something was refused; that somebody was faster by what stands now, and not by numbers of revisions."""
    error = refused.error
    if error.error_code != "changed_meanwhile":
        return error
    login = str(error.data.get("who", "-"))
    who = names.get(login, login) if login != "-" else str(_("somebody else"))
    for finding in facts.findings:
        state = label(Triage.choices, finding.triage)
        if refused.at == "findings" and finding.id == error.data.get("finding_id"):
            message = _(
                "Nothing is saved: meanwhile {who} changed finding {number}, which is “{state}” now. Look at it, and "
                "decide on the others again."
            )
            return Conflict(message, code=error.error_code, who=who, number=finding.number, state=state)
        if finding.id == refused.at:
            message = _(
                "Meanwhile {who} changed this finding: it is “{state}” now. Decide anew if you see it otherwise."
            )
            return Conflict(message, code=error.error_code, who=who, state=state)
    for check in facts.results:
        if refused.at == "verdicts" and check.check_item_id == error.data.get("check_item_id"):
            message = _("Meanwhile {who} changed {check}: it is “{verdict}” now. Decide anew if you see it otherwise.")
            given = {"who": who, "check": check.check_item_id, "verdict": verdict_label(check)}
            return Conflict(message, code=error.error_code, **given)
    return error
