"""What a run measures, pinned when it is started: a resumed run measures the same, an equal one need not be made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import Conflict
from hub.core.publication import PublicationStatus
from hub.evaluation.cases import RETRIEVAL
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from hub.evaluation.review_cases import REVIEW
from hub.llm.preparation import model_of
from hub.llm.providers.registry import is_configured
from hub.llm.types import Strength
from knowledge.guidelines.queries import editions_in_force
from knowledge.index.active_embedder import active_embedding_set
from knowledge.models import Document, Ontology, VersionContent
from knowledge.types.search import SearchMode
from review.evaluation.candidates import Candidate
from review.evaluation.contents import digest_of_contents
from review.evaluation.judging import versions_in_force
from review.evaluation.model_answers import earlier_model
from review.evaluation.summary import document_key, related_keys
from review.evaluation.withholding import hidden_names
from review.judging.prompts import numbers_in_force
from review.models import CheckListVersion

UNKNOWN_SHOWN = 20
Notices = list[dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """What is measured. ``digest`` is the same for the same things, measured on the same cases."""

    subject: str
    parameters: Mapping[str, Any]
    digest: str
    notices: Notices = field(default_factory=list)


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
    checklists = versions_in_force() | dict(candidate.checklists)
    named = CheckListVersion.objects.filter(pk__in=checklists.values()).select_related("checklist")
    labels = sorted(f"{version.checklist.code} v{version.number}" for version in named)
    labels += [f"{kind} v{number}" for kind, number in candidate.prompts.items()]
    documents, missing = _pinned_documents(principal, [case.input for case in cases])
    if not documents:
        hidden = hidden_names(principal, missing)
        raise Conflict(
            _('None of the documents of the dataset "{dataset}" is there for you, among them: {missing}.'),
            code="documents_missing",
            dataset=dataset.code,
            missing=", ".join([name for name in missing if name not in hidden][:UNKNOWN_SHOWN]) or "-",
        )
    prompts = numbers_in_force() | dict(candidate.prompts)
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
    if not is_configured():
        return earlier_model()
    config = settings.CONFIG
    return {
        "provider": config.llm_provider,
        "model": model_of(Strength.STRONG),
        "light_model": config.llm_light_model,
        "votes": config.llm_votes,
        "is_replay": False,
    }


def _around() -> list[list[int]]:
    """What else rules look at: editions of guidelines in force, and published ontologies."""
    ontologies = Ontology.objects.filter(status=PublicationStatus.PUBLISHED).order_by("pk").values_list("pk", flat=True)
    return [sorted(edition.pk for edition in editions_in_force()), list(ontologies)]


def _retrieval_pins(principal: Principal, cases: Sequence[EvaluationCase], candidate: Candidate) -> Pins:
    measured = candidate.embedding_set or active_embedding_set()
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
    there = {(row[0], row[1]): row[2] for row in rows.values_list("version__document", "version__number", "version")}
    return {key: there[named] for key, named in wanted.items() if named in there}
