"""What may be measured in the place of what is in force: a check list's version, a prompt, an embedding set.

Every door names it alike: ``checklist:basic-design@5``, ``prompt:judge@3``, ``embedding_set:e5-large``. A set
brings its way of cutting documents with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import InvalidInput, NotFound
from hub.core.publication import PublicationStatus
from hub.evaluation.cases import RETRIEVAL
from hub.evaluation.review_cases import REVIEW
from knowledge.embedding_sets.sets import find_set
from knowledge.models import EmbeddingSet
from review.evaluation.datasets import GUARD_CHECKLIST
from review.masters.listing import get_checklist_version
from review.models import CheckListVersion, JudgePrompt, MasterStatus

GUARD_PROMPT, GUARD_SET = "prompt", "embedding_set"
# PostgreSQL's largest integer has ten digits.
MAX_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What a run measures: what is in force, with these in its place.

    ``guard`` is what datasets name to guard it; ``asks_model`` has a language model judge what rules leave open.
    """

    name: str
    guard: str
    kind: str
    checklists: Mapping[str, int] = field(default_factory=dict)
    prompts: Mapping[str, int] = field(default_factory=dict)
    embedding_set: EmbeddingSet | None = None
    asks_model: bool = False

    def in_force(self) -> Candidate:
        """What the candidate is held against: the same measurement without it."""
        return Candidate(name="", guard=self.guard, kind=self.kind, asks_model=self.asks_model)


def checklist_candidate(version: CheckListVersion) -> Candidate:
    """A version of a check list."""
    code = version.checklist.code
    return Candidate(
        name=f"{GUARD_CHECKLIST}{code}@{version.number}",
        guard=f"{GUARD_CHECKLIST}{code}",
        kind=REVIEW,
        checklists={code: version.pk},
    )


def prompt_candidate(prompt: JudgePrompt) -> Candidate:
    """A version of a prompt; only a language model can tell what it is worth."""
    return Candidate(
        name=f"{GUARD_PROMPT}:{prompt.kind}@{prompt.number}",
        guard=GUARD_PROMPT,
        kind=REVIEW,
        prompts={prompt.kind: prompt.number},
        asks_model=True,
    )


def set_candidate(embedding_set: EmbeddingSet) -> Candidate:
    """An embedding set with its chunk policy."""
    return Candidate(
        name=f"{GUARD_SET}:{embedding_set.name}", guard=GUARD_SET, kind=RETRIEVAL, embedding_set=embedding_set
    )


def find_candidate(principal: Principal, name: str) -> Candidate:
    """Find what a name means. For curators of the hub. Raises InvalidInput for another form, NotFound."""
    principal.require_hub_curator()
    sort, separator, rest = name.partition(":")
    if not separator or sort not in _FINDERS:
        raise InvalidInput(
            _("candidate: expected checklist:CODE@NUMBER, prompt:KIND@NUMBER or embedding_set:NAME, not {given!r}."),
            field="candidate",
            given=name[:80],
        )
    return _FINDERS[sort](principal, rest)


def open_candidates(principal: Principal) -> list[Candidate]:
    """What could be published next: drafts of check lists and prompts, and sets that are built. Three queries."""
    principal.require_hub_curator()
    lists = CheckListVersion.objects.filter(status=MasterStatus.DRAFT).select_related("checklist")
    prompts = JudgePrompt.objects.filter(status=PublicationStatus.DRAFT)
    sets = EmbeddingSet.objects.select_related("policy").filter(is_active=False, built_at__isnull=False)
    return [
        *map(checklist_candidate, lists.order_by("checklist__code", "-number")),
        *map(prompt_candidate, prompts.order_by("kind", "-number")),
        *map(set_candidate, sets.exclude(status="dropped").order_by("-pk")),
    ]


def _checklist(principal: Principal, rest: str) -> Candidate:
    code, number = _numbered(rest)
    return checklist_candidate(get_checklist_version(principal, code, number))


def _prompt(_principal: Principal, rest: str) -> Candidate:
    return prompt_candidate(find_prompt(*_numbered(rest)))


def _set(_principal: Principal, rest: str) -> Candidate:
    return set_candidate(find_set(rest))


def find_prompt(kind: str, number: int) -> JudgePrompt:
    """A version of a prompt. Raises NotFound."""
    found = JudgePrompt.objects.filter(kind=kind, number=number).first()
    if found is None:
        raise NotFound(_('There is no prompt "{given}".'), given=f"{kind}@{number}")
    return found


def split_name(name: str) -> tuple[str, int]:
    """The code and number in the name of a check list's version or of a prompt. Raises InvalidInput."""
    return _numbered(name.partition(":")[2])


def _numbered(rest: str) -> tuple[str, int]:
    code, _at, number = rest.rpartition("@")
    if not (code and number.isascii() and number.isdecimal() and len(number) <= MAX_DIGITS):
        raise InvalidInput(
            _("candidate: expected a version behind an @, as in basic-design@5, not {given!r}."),
            field="candidate",
            given=rest[:80],
        )
    return code, int(number)


_FINDERS: Mapping[str, Callable[[Principal, str], Candidate]] = {
    GUARD_CHECKLIST.rstrip(":"): _checklist,
    GUARD_PROMPT: _prompt,
    GUARD_SET: _set,
}
