"""Where a person keeps evaluation cases while triaging: the datasets to choose from, the last one first in mind."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.admin_site.callers import principal_of
from hub.evaluation.models import READING_SCOPES, EvaluationDataset
from review.evaluation.cases import OWN_DATASET

CHOSEN_DATASET = "hub_case_dataset"


def may_keep_cases(principal: Principal) -> bool:
    """Tell whether the person has a dataset to keep cases in, or may make one."""
    if not any(principal.allows(scope) for scope in READING_SCOPES):
        return False
    return principal.curates_hub() or EvaluationDataset.objects.visible_to(principal).exists()


def datasets_for(request: HttpRequest) -> list[tuple[str, str, bool]]:
    """Code and name of the datasets that the person may keep cases in, and which was used last.

    Who curates and has none is offered one of their own, which is made with the first case.
    """
    principal = principal_of(request)
    if not may_keep_cases(principal):
        return []
    found = list(EvaluationDataset.objects.visible_to(principal).order_by("code").values_list("code", "name"))
    if not found:
        code = f"{OWN_DATASET}-{principal.user_id}"
        found = [(code, str(_("new dataset “{code}”").format(code=code)))]
    chosen = request.session.get(CHOSEN_DATASET) or (found[0][0] if found else "")
    return [(code, name, code == chosen) for code, name in found]
