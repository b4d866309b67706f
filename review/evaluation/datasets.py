"""Evaluation datasets and their cases: every door calls these, with the caller's principal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.evaluation.cases import RETRIEVAL, ParsedCase
from hub.evaluation.models import READING_SCOPES, EvaluationCase, EvaluationDataset
from hub.evaluation.review_cases import REVIEW
from knowledge.evaluation.retrieval import get_dataset
from review.evaluation.withholding import readable_cases
from review.models import CheckList

CODE = re.compile(r"^[A-Za-z0-9_-]{1,63}$")
GUARD_CHECKLIST = "checklist:"
GUARDS = ("embedding_set", "prompt")
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetChange:
    """What to change of a dataset; None leaves it. ``readers`` are user names, all of them."""

    name: str | None = None
    is_nightly: bool | None = None
    guards: Sequence[str] | None = None
    readers: Sequence[str] | None = None


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
    principal.require_hub_curator()
    if not CODE.match(code):
        raise InvalidInput(_("code: expected up to 63 letters, digits, - and _, not {given!r}."), given=code)
    if len(name) > LONGEST_NAME or "\0" in name:
        raise InvalidInput(_("name: expected at most 200 characters."))
    try:
        with transaction.atomic():
            made = EvaluationDataset.objects.create(code=code, name=name.strip() or code)
            if principal.user_id is not None:
                made.readers.add(principal.user_id)
            record(principal, "CREATE", code)
    except IntegrityError as error:
        raise Conflict(_('The code "{given}" is taken.'), code="dataset_exists", given=code) from error
    return read_dataset(principal, code)


def change_dataset(*, principal: Principal, code: str, change: DatasetChange) -> EvaluationDataset:
    """Change a dataset's name, night runs, guards or readers. Raises NotFound, InvalidInput for unknown ones."""
    principal.require_hub_curator()
    found = get_dataset(principal, code)
    if change.name is not None:
        found.name = change.name.strip()[:LONGEST_NAME] or code
    if change.is_nightly is not None:
        found.is_nightly = change.is_nightly
    if change.guards is not None:
        found.guards = _checked_guards(change.guards)
    with transaction.atomic():
        found.save()
        if change.readers is not None:
            found.readers.set(_users(change.readers))
        told = {name: getattr(change, name) for name in change.__slots__ if getattr(change, name) is not None}
        record(principal, "CHANGE", code, **told)
    return list_datasets(principal).filter(pk=found.pk).first() or found


def _checked_guards(guards: Sequence[str]) -> list[str]:
    lists = [f"{GUARD_CHECKLIST}{code}" for code in CheckList.objects.order_by("code").values_list("code", flat=True)]
    known = [*lists, *GUARDS]
    if unknown := sorted(set(guards) - set(known)):
        raise InvalidInput(
            _("guards: unknown {unknown}. Known: {known}."), unknown=", ".join(unknown), known=", ".join(known)
        )
    return sorted(set(guards))


def _users(names: Sequence[str]) -> list[User]:
    users = list(User.objects.filter(username__in=names, is_active=True))
    if unknown := sorted(set(names) - {user.username for user in users}):
        raise InvalidInput(_("readers: there is nobody called {unknown}."), unknown=", ".join(unknown))
    return users


def delete_dataset(*, principal: Principal, code: str) -> None:
    """Delete a dataset with its cases and runs. Raises NotFound."""
    principal.require_hub_curator()
    found = get_dataset(principal, code)
    with transaction.atomic():
        record(principal, "DELETE", code, cases=found.cases.count(), runs=found.runs.count())
        found.delete()


def list_cases(principal: Principal, code: str, *, kind: str = "") -> QuerySet[EvaluationCase]:
    """A dataset's cases of documents that the caller may read, the newest first. Raises NotFound."""
    require_reader(principal)
    cases = readable_cases(principal, get_dataset(principal, code)).order_by("-pk")
    return cases.filter(kind=kind) if kind else cases


def delete_case(*, principal: Principal, code: str, case_id: int) -> None:
    """Take a case out of a dataset. Raises NotFound."""
    principal.require_hub_curator()
    found = get_dataset(principal, code)
    if not readable_cases(principal, found).filter(pk=case_id).delete()[0]:
        raise NotFound(_('The dataset "{dataset}" has no case {case_id}.'), dataset=code, case_id=case_id)
    record(principal, "CASE_DELETE", code, case=case_id)


def save_case(dataset: EvaluationDataset, case: ParsedCase) -> tuple[EvaluationCase, bool]:
    """Store a case, or replace the answer to the same question; the second value tells whether it is new."""
    return EvaluationCase.objects.update_or_create(
        dataset=dataset,
        kind=case.kind,
        digest=case.digest,
        defaults={"input": case.input, "expected": case.expected, "weight": case.weight},
    )


def record(principal: Principal, action: str, code: str, **details: object) -> None:
    """Write to the audit trail what was done to a dataset."""
    record_event(principal=principal, action=f"EVALUATION_{action}", resource=f"dataset:{code}", **details)
