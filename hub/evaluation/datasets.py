"""Datasets and their cases as every app finds and stores them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.core.errors import InvalidInput, NotFound
from hub.evaluation.cases import ParsedCase
from hub.evaluation.models import EvaluationCase, EvaluationDataset

DATASET_CODE = re.compile(r"[A-Za-z0-9_-]{1,63}")


def get_dataset(principal: Principal, code: str) -> EvaluationDataset:
    """Find a dataset that the caller may read by its code. Raises NotFound naming those there are for them."""
    visible = EvaluationDataset.objects.visible_to(principal)
    found = visible.filter(code=code).first()
    if found is None:
        known = ", ".join(visible.values_list("code", flat=True)) or "-"
        raise NotFound(_('There is no evaluation dataset "{dataset}". Known: {known}.'), dataset=code, known=known)
    return found


def own_dataset(principal: Principal, code: str) -> EvaluationDataset:
    """Find a dataset, or make it with the caller as its first reader.

    Raises NotFound for one they may not read, InvalidInput for a code that none can have.
    """
    check_code(code)
    found, is_new = EvaluationDataset.objects.get_or_create(code=code, defaults={"name": code})
    if not is_new:
        return get_dataset(principal, code)
    begin(principal, found)
    return found


def begin(principal: Principal, made: EvaluationDataset) -> None:
    """Let the maker of a new dataset, which has no cases yet, be its only reader, and note it in the trail."""
    named = [principal.name] if principal.user_id is not None else []
    if principal.user_id is not None:
        made.readers.add(principal.user_id)
    record_event(principal, "EVALUATION_CREATE", f"dataset:{made.code}", named=named)


def named_readers(principal: Principal) -> QuerySet[EvaluationDataset]:
    """All datasets by code, with their readers, for who names them, also where they read none. Raises Forbidden.

    Two queries. Of a dataset that the caller does not read, show its code and its readers alone.
    """
    principal.require_hub(HubRight.APPROVERS)
    return EvaluationDataset.objects.prefetch_related("readers").order_by("code")


@transaction.atomic
def name_readers(*, principal: Principal, code: str, readers: Sequence[str]) -> EvaluationDataset:
    """Let these people, by user names, and nobody else but superusers read a dataset; the trail says who is new.

    It takes the right to name them, not that to read the dataset: who has no such right names nobody, themselves
    neither. Raises Forbidden, NotFound, InvalidInput for a name that nobody who may sign in has.
    """
    principal.require_hub(HubRight.APPROVERS)
    found = EvaluationDataset.objects.select_for_update().filter(code=code).first()
    if found is None:
        raise NotFound(_('There is no evaluation dataset "{dataset}".'), dataset=code[:80])
    before = {user.pk: user for user in found.readers.all()}
    # who was deactivated may stay named: they read nothing
    known = User.objects.filter(Q(is_active=True) | Q(pk__in=list(before)), username__in=readers)
    after = {user.pk: user for user in known}
    if unknown := sorted(set(readers) - {user.username for user in after.values()}):
        raise InvalidInput(
            _("readers: there is nobody called {unknown}."), field="readers", unknown=", ".join(unknown)[:300]
        )
    named = sorted(after[key].username for key in after.keys() - before.keys())
    withdrawn = sorted(before[key].username for key in before.keys() - after.keys())
    if named or withdrawn:
        found.readers.set(after.values())
        record_event(principal, "EVALUATION_READERS", f"dataset:{code}", named=named, withdrawn=withdrawn)
    return found


def check_code(code: str) -> None:
    """Raise InvalidInput for a code that no dataset can have."""
    if not DATASET_CODE.fullmatch(code):
        raise InvalidInput(_("code: expected up to 63 letters, digits, - and _, not {given!r}."), given=code[:80])


def save_case(dataset: EvaluationDataset, case: ParsedCase) -> tuple[EvaluationCase, bool]:
    """Store a case, or replace the answer to the same question; the second value is whether it is new."""
    return EvaluationCase.objects.update_or_create(
        dataset=dataset,
        kind=case.kind,
        digest=case.digest,
        defaults={"input": case.input, "expected": case.expected, "weight": case.weight},
    )
