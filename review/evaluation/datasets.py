"""Evaluation datasets and their cases: every door calls these, with the caller's principal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.evaluation.cases import RETRIEVAL, REVIEW
from hub.evaluation.datasets import begin, check_code, get_dataset, name_readers
from hub.evaluation.models import READING_SCOPES, EvaluationCase, EvaluationDataset, EvaluationRun
from knowledge.models import Document
from knowledge.models.documents import DocumentQuerySet
from review.evaluation.execution import document_key, related_keys
from review.models import CheckList

GUARD_CHECKLIST = "checklist:"
GUARDS = ("embedding_set", "prompt")
LONGEST_NAME = 200
VERSION = re.compile(r"#v\d+$")
NAMED = ("input__document", "input__collection", "input__related_documents", "expected__relevant")


def list_datasets(principal: Principal) -> QuerySet[EvaluationDataset]:
    """The datasets that the caller may read, by code, with their numbers of cases. Two queries with the readers."""
    rows = EvaluationDataset.objects.visible_to(principal).prefetch_related("readers").order_by("code")
    return rows.annotate(
        review_cases=Count("cases", filter=Q(cases__kind=REVIEW), distinct=True),
        retrieval_cases=Count("cases", filter=Q(cases__kind=RETRIEVAL), distinct=True),
    )


def read_dataset(principal: Principal, code: str) -> EvaluationDataset:
    """One dataset with its numbers of cases. Raises Forbidden without a reading scope, NotFound."""
    require_reader(principal)
    return list_datasets(principal).get(pk=get_dataset(principal, code).pk)


def require_reader(principal: Principal) -> None:
    """Raise Forbidden for callers who have neither of the scopes that datasets are read with."""
    if not any(principal.allows(scope) for scope in READING_SCOPES):
        principal.require(Scope.CURATE)


def create_dataset(*, principal: Principal, code: str, name: str = "") -> EvaluationDataset:
    """Make a dataset that only the caller (and superusers) may read. Raises InvalidInput, Conflict when it is there."""
    principal.require_hub(HubRight.EVALUATION)
    check_code(code)
    name = _checked_name(name)
    try:
        with transaction.atomic():
            made = EvaluationDataset.objects.create(code=code, name=name or code)
            begin(principal, made)
    except IntegrityError as error:
        raise Conflict(_('The code "{given}" is taken.'), code="dataset_exists", given=code) from error
    return read_dataset(principal, code)


def change_dataset(
    *,
    principal: Principal,
    code: str,
    name: str | None = None,
    is_nightly: bool | None = None,
    guards: Sequence[str] | None = None,
    readers: Sequence[str] | None = None,
) -> EvaluationDataset:
    """Change what is given of a dataset; ``readers`` are user names, all of them.

    Raises NotFound, InvalidInput, Forbidden; for ``readers`` what :func:`hub.evaluation.datasets.name_readers` does.
    """
    principal.require_hub(HubRight.EVALUATION)
    found = get_dataset(principal, code)
    given = {"name": name, "is_nightly": is_nightly, "guards": guards}
    if name is not None:
        found.name = _checked_name(name) or code
    if is_nightly is not None:
        found.is_nightly = is_nightly
    if guards is not None:
        found.guards = _checked_guards(guards)
    with transaction.atomic():
        found.save()
        if readers is not None:
            name_readers(principal=principal, code=code, readers=readers)
        if changed := {key: value for key, value in given.items() if value is not None}:
            record(principal, "CHANGE", code, **changed)
    return list_datasets(principal).filter(pk=found.pk).first() or found


def _checked_name(name: str) -> str:
    if len(name) > LONGEST_NAME or "\0" in name:
        raise InvalidInput(_("name: expected at most 200 characters."))
    return name.strip()


def _checked_guards(guards: Sequence[str]) -> list[str]:
    lists = [f"{GUARD_CHECKLIST}{code}" for code in CheckList.objects.order_by("code").values_list("code", flat=True)]
    known = [*lists, *GUARDS]
    if unknown := sorted(set(guards) - set(known)):
        raise InvalidInput(
            _("guards: unknown {unknown}. Known: {known}."), unknown=", ".join(unknown), known=", ".join(known)
        )
    return sorted(set(guards))


def delete_dataset(*, principal: Principal, code: str) -> None:
    """Delete a dataset with its cases and runs. Raises NotFound."""
    principal.require_hub(HubRight.EVALUATION)
    found = get_dataset(principal, code)
    with transaction.atomic():
        record(principal, "DELETE", code, cases=found.cases.count(), runs=found.runs.count())
        found.delete()


def list_cases(principal: Principal, code: str, *, kind: str = "") -> QuerySet[EvaluationCase]:
    """A dataset's cases of documents that the caller may read, the newest first. Raises NotFound.

    Reading is written to the audit trail.
    """
    require_reader(principal)
    cases = readable_cases(principal, get_dataset(principal, code)).order_by("-pk")
    record_event(principal, "DATASET_READ", f"dataset:{code}")
    return cases.filter(kind=kind) if kind else cases


def delete_case(*, principal: Principal, code: str, case_id: int) -> None:
    """Take a case out of a dataset. Raises NotFound."""
    principal.require_hub(HubRight.EVALUATION)
    found = get_dataset(principal, code)
    if not readable_cases(principal, found).filter(pk=case_id).delete()[0]:
        raise NotFound(_('The dataset "{dataset}" has no case {case_id}.'), dataset=code, case_id=case_id)
    record(principal, "CASE_DELETE", code, case=case_id)


def record(principal: Principal, action: str, code: str, **details: object) -> None:
    """Write to the audit trail what was done to a dataset."""
    record_event(principal, f"EVALUATION_{action}", f"dataset:{code}", **details)


def hidden_cases(principal: Principal, dataset: EvaluationDataset) -> frozenset[int]:
    """The keys of a dataset's cases that are about a document that is hidden from the caller. Two or three queries."""
    names = {pk: list(_names(*named)) for pk, *named in dataset.cases.order_by().values_list("pk", *NAMED)}
    hidden = hidden_names(principal, (name for of_case in names.values() for name in of_case))
    return frozenset(pk for pk, of_case in names.items() if not hidden.isdisjoint(of_case))


def _names(document: str | None, collection: str | None, related: list[str] | None, relevant: Any) -> Iterator[str]:  # noqa: ANN401
    case = {"document": document, "collection": collection, "related_documents": related or ()}
    if document:
        yield document_key(case)
        yield from related_keys(case)
    for one in relevant or ():
        yield str(one["document"])


def hidden_names(principal: Principal, names: Iterable[str]) -> frozenset[str]:
    """Those of some names (ids or paths, with a collection before and a version behind) that are hidden documents'.

    A name that a document has that the caller may read is not hidden.
    """
    plain = {name: VERSION.sub("", name) for name in names}
    wanted = {part for name in plain.values() for part in (name, name.partition(":")[2]) if part}
    denoted = Document.objects.filter(Q(public_id__in=wanted) | Q(path__in=wanted)) if wanted else None
    hidden = _named(denoted.hidden_from(principal)) if denoted is not None else set()
    if denoted is None or not hidden:
        return frozenset()
    hidden -= _named(denoted.visible_to(principal))
    return frozenset(name for name, bare in plain.items() if bare in hidden)


def _named(documents: DocumentQuerySet) -> set[str]:
    rows = documents.order_by().values_list("public_id", "path", "collection__slug")
    return {
        name for public_id, path, slug in rows for name in (public_id, path, f"{slug}:{path}", f"{slug}:{public_id}")
    }


def withhold_from_run(principal: Principal, run: EvaluationRun) -> EvaluationRun:
    """Take out of a loaded run (never of the stored one) what it says of hidden documents, and of cases about them."""
    details: Mapping[str, Any] = run.details
    missing = [one for one in details.get("notices", ()) if one.get("code") == "document_missing"]
    names = {*details.get("by_document", {}), *(one["text"] for one in missing)}
    hidden = hidden_names(principal, names)
    if hidden:
        notices = [one for one in details.get("notices", ()) if one.get("text") not in hidden]
        groups = {name: group for name, group in details.get("by_document", {}).items() if name not in hidden}
        run.details = {**details, "notices": notices, "by_document": groups}
    if run.flips:
        cases = hidden_cases(principal, run.dataset)
        run.flips = [flip for flip in run.flips if flip["case"] not in cases]
    return run


def readable_cases(principal: Principal, dataset: EvaluationDataset) -> QuerySet[EvaluationCase]:
    """The dataset's cases without the hidden ones."""
    hidden = hidden_cases(principal, dataset)
    return dataset.cases.exclude(pk__in=hidden) if hidden else dataset.cases.all()
