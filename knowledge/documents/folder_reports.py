"""What a pass over a source of files did: how many were new, changed or gone, and what could not be taken in."""

from __future__ import annotations

from dataclasses import dataclass, field

from hub.core.errors import HubError
from hub.core.languages import in_both, shown
from hub.core.texts import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Text):
    """A file that was not taken in, or a place that could not be looked into, and why."""

    path: str


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
        return [(problem.path, shown(problem)) for problem in self.problems]

    def note(self, path: str, error: HubError) -> None:
        """Add a problem."""
        readable, said = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"), in_both(error)
        self.problems.append(Problem(path=readable, ja=said.ja, en=said.en))
