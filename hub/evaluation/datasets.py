"""Datasets and their cases as every app finds and stores them."""

from __future__ import annotations

import re

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
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
    if principal.user_id is not None:
        found.readers.add(principal.user_id)
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
