"""What may be measured in the place of what is in force, and what that comes to when a run is started.

A candidate is a check list's version, a prompt, or an embedding set with its way of cutting documents; every door names
it alike: ``checklist:basic-design@5``, ``prompt:judge@3``, ``embedding_set:e5-large``. What a run measures is pinned: a
resumed run measures the same, and an equal one need not be made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.versions import PublicationStatus
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.evaluation.cases import RETRIEVAL, REVIEW
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from hub.llm.preparation import model_of
from hub.llm.providers.registry import is_configured
from hub.llm.types import Strength
from knowledge.embedding_sets.sets import find_set
from knowledge.guidelines.editions import editions_in_force
from knowledge.index.active_embedder import active_embedding_set
from knowledge.models import Document, EmbeddingSet, Ontology, VersionContent
from knowledge.types.search import SearchMode
from review.evaluation.datasets import GUARD_CHECKLIST, hidden_names
from review.evaluation.execution import document_key, related_keys
from review.evaluation.judging import digest_of_contents, earlier_model, versions_in_force
from review.evaluation.model_steps import options_in_force
from review.judging.prompts import numbers_in_force
from review.masters.listing import get_checklist_version
from review.models import CheckListVersion, JudgePrompt, MasterStatus
from review.runs.reviews import ReviewOptions

GUARD_PROMPT, GUARD_SET = "prompt", "embedding_set"
UNKNOWN_SHOWN = 20
# PostgreSQL's largest integer has ten digits.
MAX_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What a run measures: what is in force, with ``version`` in its place.

    ``guard`` is what datasets name to guard it; ``asks_model`` has a language model judge what rules leave open.
    """

    name: str
    guard: str
    kind: str
    version: CheckListVersion | JudgePrompt | EmbeddingSet | None = None
    asks_model: bool = False

    def in_force(self) -> Candidate:
        """What the candidate is held against: the same measurement without it."""
        return replace(self, name="", version=None)


def checklist_candidate(version: CheckListVersion) -> Candidate:
    """A version of a check list."""
    guard = f"{GUARD_CHECKLIST}{version.checklist.code}"
    return Candidate(name=f"{guard}@{version.number}", guard=guard, kind=REVIEW, version=version)


def prompt_candidate(prompt: JudgePrompt) -> Candidate:
    """A version of a prompt; only a language model can show what it is worth."""
    name = f"{GUARD_PROMPT}:{prompt.kind}@{prompt.number}"
    return Candidate(name=name, guard=GUARD_PROMPT, kind=REVIEW, version=prompt, asks_model=True)


def set_candidate(embedding_set: EmbeddingSet) -> Candidate:
    """An embedding set with its chunk policy."""
    name = f"{GUARD_SET}:{embedding_set.name}"
    return Candidate(name=name, guard=GUARD_SET, kind=RETRIEVAL, version=embedding_set)


def find_candidate(principal: Principal, name: str) -> Candidate:
    """Find what a name means. For those who evaluate, and who may put it in force.

    Raises InvalidInput for another form, NotFound, Forbidden.
    """
    sort, separator, rest = name.partition(":")
    principal.require_hub(HubRight.EVALUATION, HubRight.OPERATION if sort == GUARD_SET else HubRight.MASTERS)
    match sort + separator:
        case "checklist:":
            return checklist_candidate(get_checklist_version(principal, *_numbered(rest)))
        case "prompt:":
            return prompt_candidate(find_prompt(*_numbered(rest)))
        case "embedding_set:":
            return set_candidate(find_set(rest))
    raise InvalidInput(
        _("candidate: expected checklist:CODE@NUMBER, prompt:KIND@NUMBER or embedding_set:NAME, not {given!r}."),
        field="candidate",
        given=name[:80],
    )


def open_candidates(principal: Principal) -> list[Candidate]:
    """What could be published next: drafts of check lists and prompts, and sets that are built. Three queries."""
    principal.require_hub(HubRight.EVALUATION)
    lists = CheckListVersion.objects.filter(status=MasterStatus.DRAFT).select_related("checklist")
    prompts = JudgePrompt.objects.filter(status=PublicationStatus.DRAFT)
    sets = EmbeddingSet.objects.select_related("policy").filter(is_active=False, built_at__isnull=False)
    return [
        *map(checklist_candidate, lists.order_by("checklist__code", "-number")),
        *map(prompt_candidate, prompts.order_by("kind", "-number")),
        *map(set_candidate, sets.exclude(status="dropped").order_by("-pk")),
    ]


def find_prompt(kind: str, number: int) -> JudgePrompt:
    """A version of a prompt. Raises NotFound."""
    found = JudgePrompt.objects.filter(kind=kind, number=number).first()
    if found is None:
        raise NotFound(_('There is no prompt "{given}".'), given=f"{kind}@{number}")
    return found


def _numbered(rest: str) -> tuple[str, int]:
    code, _at, number = rest.rpartition("@")
    if not (code and number.isascii() and number.isdecimal() and len(number) <= MAX_DIGITS):
        raise InvalidInput(
            _("candidate: expected a version behind an @, as in basic-design@5, not {given!r}."),
            field="candidate",
            given=rest[:80],
        )
    return code, int(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """What is measured. ``digest`` is the same for the same things, measured on the same cases."""

    subject: str
    parameters: Mapping[str, Any]
    digest: str
    notices: list[dict[str, str]] = field(default_factory=list)


def pins_of(principal: Principal, dataset: EvaluationDataset, candidate: Candidate, *, rounds: int) -> Pins:
    """Pin what a candidate comes to now, with the documents as the caller may see them.

    Raises Conflict when the dataset has no such cases, or none of their documents is there.
    """
    cases = list(dataset.cases.filter(kind=candidate.kind).order_by("pk"))
    if not cases:
        raise Conflict(
            _('The dataset "{dataset}" has no {kind} cases. Import some first.'),
            code="no_cases",
            dataset=dataset.code,
            kind=candidate.kind,
        )
    if candidate.kind == RETRIEVAL:
        return _retrieval_pins(principal, cases, candidate)
    return _review_pins(principal, dataset, cases, candidate, rounds)


def _review_pins(
    principal: Principal,
    dataset: EvaluationDataset,
    cases: Sequence[EvaluationCase],
    candidate: Candidate,
    rounds: int,
) -> Pins:
    checklists, prompts, labels = versions_in_force(), numbers_in_force(), []
    if isinstance(candidate.version, CheckListVersion):
        checklists |= {candidate.version.checklist.code: candidate.version.pk}
    elif isinstance(candidate.version, JudgePrompt):
        prompts |= {candidate.version.kind: candidate.version.number}
        labels = [f"{candidate.version.kind} v{candidate.version.number}"]
    named = CheckListVersion.objects.filter(pk__in=checklists.values()).select_related("checklist")
    labels = sorted(f"{version.checklist.code} v{version.number}" for version in named) + labels
    documents, missing = _pinned_documents(principal, [case.input for case in cases])
    if not documents:
        hidden = hidden_names(principal, missing)
        raise Conflict(
            _('None of the documents of the dataset "{dataset}" is there for you, among them: {missing}.'),
            code="documents_missing",
            dataset=dataset.code,
            missing=", ".join([name for name in missing if name not in hidden][:UNKNOWN_SHOWN]) or "-",
        )

    parameters: dict[str, Any] = {
        "checklists": checklists,
        "documents": documents,
        "rounds": rounds,
        "prompts": prompts,
        "contents": digest_of_contents(list(checklists.values()), prompts),
    }
    if candidate.asks_model:
        parameters["model_asked"] = _model_asked()
    return Pins(
        subject=", ".join(labels) or "-",
        parameters=parameters,
        digest=_digest(REVIEW, parameters, cases, around=_around()),
        notices=[{"code": "document_missing", "text": name} for name in missing],
    )


def _model_asked() -> dict[str, Any]:
    """The model as configured; without one, the one whose recorded answers can be read again."""
    config, options = settings.CONFIG, ReviewOptions()
    steps = options_in_force(config, limit=options.sweep_limit, severity=options.sweep_severity)
    if not is_configured():
        return (earlier := earlier_model()) and {**earlier, **steps}
    return {
        "provider": config.llm_provider,
        "model": model_of(Strength.STRONG),
        "light_model": config.llm_light_model,
        "votes": config.llm_votes,
        "is_replay": False,
        **steps,
    }


def _around() -> list[list[int]]:
    """What else rules look at: editions of guidelines in force, and published ontologies."""
    ontologies = Ontology.objects.filter(status=PublicationStatus.PUBLISHED).order_by("pk").values_list("pk", flat=True)
    return [sorted(edition.pk for edition in editions_in_force()), list(ontologies)]


def _retrieval_pins(principal: Principal, cases: Sequence[EvaluationCase], candidate: Candidate) -> Pins:
    measured = candidate.version if isinstance(candidate.version, EmbeddingSet) else active_embedding_set()
    asked = [
        {"document": answer["document"], "collection": case.input.get("collection", "")}
        for case in cases
        for answer in case.expected["relevant"]
    ]
    documents, _missing = _pinned_documents(principal, asked)
    parameters = {
        "embedding_set": measured.pk,
        "mode": SearchMode.HYBRID.value,
        "model": measured.model,
        "policy": str(measured.policy),
    }
    return Pins(
        subject=measured.name,
        parameters=parameters,
        digest=_digest(RETRIEVAL, parameters | {"documents": documents, "vectors": measured.fingerprint}, cases),
    )


def _digest(
    kind: str, parameters: Mapping[str, Any], cases: Sequence[EvaluationCase], *, around: Sequence[Any] = ()
) -> str:
    facts = [kind, parameters, [[case.pk, case.digest, case.expected, case.weight] for case in cases], around]
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _pinned_documents(principal: Principal, asked: Sequence[Mapping[str, Any]]) -> tuple[dict[str, int], list[str]]:
    """Find the current version of each document that cases name; of several with one path the oldest document's."""
    names = {name for case in asked for name in (case["document"], *case.get("related_documents", ()))}
    rows = (
        Document.objects.visible_to(principal)
        .live()
        .filter(Q(public_id__in=names) | Q(path__in=names), current_version__isnull=False)
        .order_by("-pk")
        .values_list("pk", "public_id", "path", "collection__slug", "current_version_id")
    )
    known: dict[str, int] = {}
    documents: dict[str, int] = {}
    for pk, public_id, path, collection, version_id in rows:
        names_of = (public_id, path, f"{collection}:{path}", f"{collection}:{public_id}")
        known |= dict.fromkeys(names_of, version_id)
        documents |= dict.fromkeys(names_of, pk)
    known |= _named_versions(asked, documents)
    keys = {key for case in asked for key in (document_key(case), *related_keys(case))}
    return {key: known[key] for key in sorted(keys & known.keys())}, sorted(keys - known.keys())


def _named_versions(asked: Sequence[Mapping[str, Any]], documents: Mapping[str, int]) -> dict[str, int]:
    """Find the versions that cases name by number, as far as their text is still there."""
    wanted = {}
    for case in asked:
        document = documents.get(document_key({**case, "version": None}))
        if case.get("version") and document is not None:
            wanted[document_key(case)] = (document, case["version"])
    rows = VersionContent.objects.filter(version__document__in={document for document, _number in wanted.values()})
    known = {(row[0], row[1]): row[2] for row in rows.values_list("version__document", "version__number", "version")}
    return {key: known[named] for key, named in wanted.items() if named in known}
