"""Cases of what people marked as relevant, in the datasets that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import InvalidInput, NotFound
from hub.evaluation.cases import RETRIEVAL, read_retrieval_cases
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from knowledge.evaluation.scoring import search_of

BAD_LINES_SHOWN = 5
DATASET_CODE = re.compile(r"[A-Za-z0-9_-]{1,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCases:
    """How many cases were new, and how many replaced an older answer to the same question."""

    created: int
    replaced: int


def get_dataset(principal: Principal, code: str) -> EvaluationDataset:
    """Find a dataset that the caller may read by its code. Raises NotFound naming those there are for them."""
    visible = EvaluationDataset.objects.visible_to(principal)
    found = visible.filter(code=code).first()
    if found is None:
        known = ", ".join(visible.values_list("code", flat=True)) or "-"
        raise NotFound(_('There is no evaluation dataset "{dataset}". Known: {known}.'), dataset=code, known=known)
    return found


def import_retrieval_cases(
    *, principal: Principal, dataset: str, lines: Iterable[str], name: str = ""
) -> tuple[EvaluationDataset, ImportedCases]:
    """Add retrieval cases from JSON Lines to a dataset, which is made if need be. All of them, or none.

    Importing the same question again replaces its answer. Raises InvalidInput naming the lines that can't be read.
    """
    principal.require_hub_curator()
    cases, bad = read_retrieval_cases(lines, check=search_of)
    if bad or not cases:
        shown = "; ".join(f"{line.number}: {line.reason}" for line in bad[:BAD_LINES_SHOWN])
        raise InvalidInput(
            _("{count} lines are no retrieval cases, of {total}. {shown}"),
            code="bad_cases",
            count=len(bad),
            total=len(bad) + len(cases),
            shown=shown,
        )
    with transaction.atomic():
        found = own_dataset(principal, dataset, name)
        created = 0
        for case in cases:
            _row, is_new = EvaluationCase.objects.update_or_create(
                dataset=found,
                kind=RETRIEVAL,
                digest=case.digest,
                defaults={"input": case.input, "expected": case.expected, "weight": case.weight},
            )
            created += is_new
        record_event(
            principal=principal, action="EVALUATION_IMPORT", resource=f"dataset:{found.code}", cases=len(cases)
        )
    return found, ImportedCases(created=created, replaced=len(cases) - created)


def own_dataset(principal: Principal, code: str, name: str = "") -> EvaluationDataset:
    """Find a dataset, or make it with the caller as its first reader.

    Raises NotFound for one they may not read, InvalidInput for a code that none can have.
    """
    if not DATASET_CODE.fullmatch(code):
        raise InvalidInput(_("code: expected up to 63 letters, digits, - and _, not {given!r}."), given=code[:80])
    found, is_new = EvaluationDataset.objects.get_or_create(code=code, defaults={"name": name or code})
    if not is_new:
        return get_dataset(principal, code)
    if principal.user_id is not None:
        found.readers.add(principal.user_id)
    return found
