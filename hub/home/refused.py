"""What was refused on the page of a review, and how the page says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hub.core.errors import Conflict, HubError
from review.report.overtaken import ids_on_page, overtaken_in_words
from review.runs.schemas import ReviewOut
from review.triage.overtaken import Overtaken

TYPED = ("reason", "waiver_reason", "comment", "expires_at", "due_on")
"""The fields that people type in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What somebody asked to change, as they typed it, and why it was not done, or not all of it.

    ``at`` is what it was about: the id of a finding, several "findings", "verdicts" of checks, or the "sign-off".
    """

    at: str
    typed: Mapping[str, str]
    error: HubError
    saved: int = 0
    """How many rows were changed all the same."""
    reason: str = ""
    """Why it was not done, in the active language, once ``in_words`` has said so."""
    chosen: frozenset[str] = frozenset()
    """The values of the boxes that were marked: of findings and checks, each in the revision that was seen."""

    @property
    def words(self) -> list[str]:
        """What was typed, of the fields that people type in."""
        return [self.typed[name] for name in TYPED if self.typed.get(name)]

    @property
    def overtaken(self) -> Sequence[Conflict]:
        """Of each row that somebody else changed meanwhile, who that was."""
        return self.error.each if isinstance(self.error, Overtaken) else ()

    @property
    def rows_overtaken(self) -> list[str]:
        """The rows of ``overtaken``, by their ids on the page."""
        return ids_on_page(self.overtaken)

    @property
    def status(self) -> int:
        """The HTTP status of the page: that of the error only where nothing was done."""
        return 200 if self.saved else self.error.status

    def in_words(self, facts: ReviewOut, names: Mapping[str, str]) -> Refused:
        """Return it with its reason; that somebody was faster is said by what stands now."""
        if not self.overtaken:
            return replace(self, reason=str(self.error))
        return replace(self, reason=overtaken_in_words(self.overtaken, facts, names, saved=self.saved))
