"""Deciding in a review, on its page: on findings, on checks, and signing it off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from hub.admin_site.pages import is_fetched, principal_of
from hub.core.errors import HubError, NotFound
from hub.home.pages import home_action
from hub.home.refused import Refused
from hub.home.reviews import render_review
from review.models import CheckResult, Finding
from review.runs.reviews import get_review
from review.triage.asked import (
    read_change,
    read_change_of_many,
    read_checks_of_form,
    read_finding_ids,
    read_findings_of_form,
    read_revision,
    read_verdict,
)
from review.triage.decisions import triage_findings, triage_seen_findings
from review.triage.overtaken import Changed, Overtaken
from review.triage.signing import sign_off
from review.triage.verdicts import decide_results, take_back_verdicts


@home_action
def decide(request: HttpRequest, review_id: str, finding_id: str) -> HttpResponseBase:
    """Decide on a finding, comment on it, or say who is to work on it and until when.

    Raises NotFound, also for who does not decide in the review; InvalidInput: no such finding in it.
    """
    principal = principal_of(request)
    asked = read_finding_ids(get_review(principal, review_id), {"finding_ids": [finding_id]})

    def save() -> None:
        triage_findings(principal=principal, finding_ids=asked, change=read_change(request.POST))

    return _answer(request, review_id, at=finding_id, save=save)


@home_action
def decide_findings(request: HttpRequest, review_id: str) -> HttpResponseBase:
    """Decide alike on each ``finding`` that is marked, or say who is to work on them and until when; what somebody else
    changed meanwhile stays, and is said.

    Raises NotFound, also for who does not decide in the review.
    """
    principal = principal_of(request)
    review = get_review(principal, review_id)

    def save() -> Changed[Finding]:
        seen = read_findings_of_form(review, request.POST.getlist("finding"))
        change = read_change_of_many(request.POST.dict())
        return triage_seen_findings(principal=principal, seen=seen, change=change)

    return _answer(request, review_id, at="findings", save=save)


@home_action
def decide_checks(request: HttpRequest, review_id: str) -> HttpResponseBase:
    """Record the person's ``verdict`` on each ``check`` that is marked; without a ``reason`` with the usual one. What
    somebody else changed meanwhile stays, and is said.

    Raises NotFound, also for who does not decide in the review.
    """

    def save() -> Changed[CheckResult]:
        verdict, reason = read_verdict(request.POST)
        return decide_results(
            principal=principal_of(request),
            review_id=review_id,
            checks=read_checks_of_form(request.POST.getlist("check")),
            verdict=verdict,
            reason=reason,
        )

    return _answer(request, review_id, at="verdicts", save=save)


@home_action
def take_back_checks(request: HttpRequest, review_id: str) -> HttpResponseBase:
    """Take back the last verdict that a person gave on each ``check`` that is marked. What somebody else changed
    meanwhile stays, and is said.

    Raises NotFound, also for who does not decide in the review.
    """

    def save() -> Changed[CheckResult]:
        checks = read_checks_of_form(request.POST.getlist("check"))
        return take_back_verdicts(principal=principal_of(request), review_id=review_id, checks=checks)

    return _answer(request, review_id, at="verdicts", save=save)


@home_action
def sign(request: HttpRequest, review_id: str) -> HttpResponseBase:
    """Sign the review off in the ``revision`` that the page showed, with a ``comment``. Raises NotFound, also for who
    does not decide in the review.
    """

    def save() -> None:
        sign_off(
            principal=principal_of(request),
            review_id=review_id,
            comment=request.POST.get("comment", ""),
            revision=read_revision(request.POST),
        )

    return _answer(request, review_id, at="sign-off", save=save)


def _answer(
    request: HttpRequest, review_id: str, *, at: str, save: Callable[[], Changed[Any] | None]
) -> HttpResponseBase:
    """Save, and lead back to where it was asked; a script is sent the page as it is now.

    What is refused, all of it or some rows, is shown there, with what was typed; only that there is no such thing is
    raised.
    """
    try:
        changed = save()
    except NotFound:
        raise
    except HubError as error:
        return render_review(request, review_id, refused=_refused(request, at, error))
    if changed and changed.overtaken:
        refused = _refused(request, at, Overtaken(changed.overtaken))
        return render_review(request, review_id, refused=replace(refused, saved=len(changed.rows)))
    if is_fetched(request):
        return render_review(request, review_id)
    return HttpResponseRedirect(f"{reverse('review', args=[review_id])}#{at}")


def _refused(request: HttpRequest, at: str, error: HubError) -> Refused:
    chosen = frozenset([*request.POST.getlist("finding"), *request.POST.getlist("check")])
    return Refused(at=at, typed=request.POST.dict(), error=error, chosen=chosen)
