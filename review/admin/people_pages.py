"""What the triage page does beside findings: verdicts, signing, carrying over, keeping decisions as cases."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from hub.access.principals import Principal
from hub.admin_site.callers import errors_as_messages, principal_of
from hub.admin_site.keyset import whole_number
from hub.core.errors import HubError, InvalidInput
from review.admin.triage_pages import CHOSEN_DATASET, body_of, find_review, ids_of
from review.evaluation import cases
from review.models import Review
from review.triage.carry_over import carry_triage
from review.triage.signing import sign_off
from review.triage.verdicts import decide_result


@require_POST
def carry(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    """Carry over what people decided in an earlier review, and tell what that was."""
    review = find_review(request, pk)
    with errors_as_messages(request):
        done = carry_triage(
            principal=principal_of(request), review_id=review.public_id, base_id=request.POST.get("base", "")
        )
        told = _("Carried over: {carried}, of these moved: {moved}, with other evidence: {changed}. Closed: {closed}.")
        messages.success(request, told.format(**done.model_dump()))
    return _back(pk, "hub-triage")


@require_POST
def keep(request: HttpRequest, pk: int) -> JsonResponse:
    """Keep decisions as cases: {dataset, finding_ids} or {dataset, check_item_id}; a refusal is {error, code}."""
    review = find_review(request, pk)
    principal = principal_of(request)
    try:
        asked = body_of(request)
        code = str(asked.get("dataset") or "")
        if not code:
            raise InvalidInput(_("dataset: choose where the case goes."), field="dataset")
        dataset = cases.ensure_dataset(principal, code)
        kept = _kept(principal, review, asked, code)
    except HubError as error:
        return JsonResponse({"error": str(error), "code": error.error_code}, status=error.status)
    request.session[CHOSEN_DATASET] = code
    told = _("Kept in {dataset}: {new} new, {known} were there.")
    text = told.format(dataset=dataset.name, new=sum(kept), known=len(kept) - sum(kept))
    return JsonResponse({"kept": len(kept), "new": sum(kept), "message": str(text)})


def _kept(principal: Principal, review: Review, asked: dict[str, Any], dataset: str) -> list[bool]:
    """Keep each; for each tells whether the case is new."""
    if item := asked.get("check_item_id"):
        _case, is_new = cases.case_from_result(
            principal=principal, review_id=review.public_id, check_item_id=str(item), dataset=dataset
        )
        return [is_new]
    return [
        cases.case_from_finding(principal=principal, finding_id=finding_id, dataset=dataset)[1]
        for finding_id in ids_of(review, asked)
    ]


@require_POST
def decide(request: HttpRequest, pk: int, check_item_id: str) -> HttpResponseRedirect:
    """Record the person's verdict on a check."""
    review = find_review(request, pk)
    with errors_as_messages(request):
        decide_result(
            principal=principal_of(request),
            review_id=review.public_id,
            check_item_id=check_item_id,
            verdict=request.POST.get("verdict", ""),
            reason=request.POST.get("reason", ""),
            revision=whole_number(request.POST.get("revision", ""), digits=8),
        )
        messages.success(request, _("Your verdict on {item} is recorded.").format(item=check_item_id))
    return _back(pk, "hub-checks")


@require_POST
def sign(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    """Sign the review off, or tell what is in the way."""
    review = find_review(request, pk)
    with errors_as_messages(request):
        state = sign_off(
            principal=principal_of(request), review_id=review.public_id, comment=request.POST.get("comment", "")
        )
        done = _("The review is signed off.") if state.signed else _("You have signed. One more person must sign.")
        messages.success(request, str(done))
    return _back(pk, "hub-sign-off")


def _back(pk: int, place: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('admin:review_review_triage', args=[pk])}#{place}")
