"""The checks on the reviewer's desk, and its sign-off. What changes something is answered with what to show now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hub.admin_site.pages import is_fetched, principal_of
from hub.core.errors import HubError
from hub.core.languages import in_language
from review.admin.desk import desk_address
from review.admin.desk_changes import body_of, change_on_desk, desk_after
from review.admin.review_pages import passage_link
from review.admin.triage_pages import find_review, may_keep_cases
from review.models import VERDICTS, CheckResult
from review.report.facts import doubts_of, judge_label, label
from review.report.grounds import grounds_of
from review.runs.reviews import record_view, review_facts
from review.triage.asked import read_checks, read_revision, read_verdict, verdict_buttons
from review.triage.overtaken import Changed
from review.triage.people import names_in
from review.triage.signing import sign_off
from review.triage.verdicts import decide_results, may_decide, take_back_verdicts


@require_GET
@never_cache
def check(request: HttpRequest, pk: int, check_item_id: str) -> HttpResponse:
    """Show one check with what it asks for and what was said of it, as a part of the page; a browser is led there."""
    principal = principal_of(request)
    review = find_review(request, pk)
    row = next((one for one in review.results.all() if one.item_version.item.code == check_item_id), None)
    if row is None:
        raise Http404
    if not is_fetched(request):
        return redirect(desk_address(review, f"check-{check_item_id}"))
    facts = review_facts(review, everything=True)
    record_view(principal, review, part="check", check_item_id=check_item_id)
    result = next(one for one in facts.results if one.check_item_id == check_item_id)
    item = row.item_version
    context = {
        "result": result,
        "asks": in_language(item.description_ja, item.description_en),
        "judge": judge_label(result),
        "before": label(VERDICTS, result.original_verdict or ""),
        "doubts": doubts_of(review).get(check_item_id, ()),
        "grounds": grounds_of(review, facts, address=passage_link).get(check_item_id, ()),
        "decisions": row.decisions.all(),
        "names": names_in(review),
        "verdicts": dict(VERDICTS),
        "verdict_buttons": verdict_buttons(),
        "may_act": may_decide(principal_of(request), review),
        "may_keep": may_keep_cases(principal),
    }
    return render(request, "admin/review/review/triage_check.html", context)


@require_POST
def decide(request: HttpRequest, pk: int) -> JsonResponse:
    """Record the person's verdict as the JSON body says: {checks: [{id, revision}], verdict, reason}.

    The answer is that of ``change_on_desk``.
    """
    review = find_review(request, pk)

    def change(asked: Mapping[str, Any]) -> Changed[CheckResult]:
        verdict, reason = read_verdict(asked)
        return decide_results(
            principal=principal_of(request),
            review_id=review.public_id,
            checks=read_checks(asked.get("checks")),
            verdict=verdict,
            reason=reason,
        )

    return change_on_desk(request, review, change)


@require_POST
def take_back(request: HttpRequest, pk: int) -> JsonResponse:
    """Take the last verdicts back of the checks that the JSON body names: {checks: [{id, revision}]}.

    The answer is that of ``change_on_desk``.
    """
    review = find_review(request, pk)

    def change(asked: Mapping[str, Any]) -> Changed[CheckResult]:
        checks = read_checks(asked.get("checks"))
        return take_back_verdicts(principal=principal_of(request), review_id=review.public_id, checks=checks)

    return change_on_desk(request, review, change)


@require_POST
def sign(request: HttpRequest, pk: int) -> JsonResponse:
    """Sign the review off as the JSON body says: {comment, revision}.

    A refusal is {error, code, desk}: what is left to decide, and what signing freezes now.
    """
    review = find_review(request, pk)
    try:
        asked = body_of(request)
        state = sign_off(
            principal=principal_of(request),
            review_id=review.public_id,
            comment=str(asked.get("comment") or ""),
            revision=read_revision(asked),
        )
    except HubError as error:
        refusal = {"error": str(error), "code": error.error_code, "desk": desk_after(request, review.public_id)}
        return JsonResponse(refusal, status=error.status)
    message = _("The review is signed off.") if state.signed else _("You have signed. One more person must sign.")
    return JsonResponse({"message": message, "desk": desk_after(request, review.public_id)})
