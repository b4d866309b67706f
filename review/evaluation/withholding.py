"""Cases of documents that the caller may not read, and what runs say of them: withheld from readers of the dataset.

Being named as a reader gives a dataset's cases of what one may read; figures over all cases stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Q, QuerySet

from hub.access.principals import Principal
from hub.evaluation.models import EvaluationCase, EvaluationDataset, EvaluationRun
from knowledge.models import Document
from knowledge.models.documents import DocumentQuerySet
from review.evaluation.summary import document_key, related_keys

VERSION = re.compile(r"#v\d+$")
NAMED = ("input__document", "input__collection", "input__related_documents", "expected__relevant")


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
