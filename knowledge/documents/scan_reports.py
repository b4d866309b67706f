"""What a pass over a source did, and what it could not do."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.utils import translation

from hub.core.errors import HubError
from hub.core.languages import in_language


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that was not taken in, or a place that could not be looked into, and why."""

    path: str
    ja: str
    en: str

    @property
    def reason(self) -> str:
        return in_language(self.ja, self.en)


@dataclass(slots=True)
class FolderReport:
    """What a pass did, in numbers of files; ``seconds`` is the time that taking in took."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)

    @property
    def failures(self) -> list[tuple[str, str]]:
        """The problems as (path, reason) in the active language."""
        return [(problem.path, problem.reason) for problem in self.problems]

    def note(self, path: str, error: HubError) -> None:
        """Add a problem."""
        shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        self.problems.append(Problem(shown, said_in("ja", error), said_in("en", error)))


def said_in(code: str, error: HubError) -> str:
    """Say an error in a language other than the active one."""
    with translation.override(code):
        return str(error)
