"""Deciding in a review, on its page: on findings, on checks, and signing it off."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from hub.admin_site.pages import is_fetched, principal_of
from hub.core.errors import HubError, NotFound
from hub.home.pages import home_action
from hub.home.refused import Refused
from hub.home.reviews import render_review
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
from review.triage.decisions import triage_findings
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
    """Decide alike on each ``finding`` that is marked, or say who is to work on them and until when.

    Raises NotFound, also for who does not decide in the review.
    """
    principal = principal_of(request)
    review = get_review(principal, review_id)

    def save() -> None:
        seen = read_findings_of_form(review, request.POST.getlist("finding"))
        change = read_change_of_many(request.POST.dict())
        triage_findings(principal=principal, finding_ids=list(seen), change=change, seen=seen)

    return _answer(request, review_id, at="findings", save=save)


@home_action
def decide_checks(request: HttpRequest, review_id: str) -> HttpResponseBase:
    """Record the person's ``verdict`` on each ``check`` that is marked; without a ``reason`` with the usual one.

    Raises NotFound, also for who does not decide in the review.
    """

    def save() -> None:
        verdict, reason = read_verdict(request.POST)
        decide_results(
            principal=principal_of(request),
            review_id=review_id,
            checks=read_checks_of_form(request.POST.getlist("check")),
            verdict=verdict,
            reason=reason,
        )

    return _answer(request, review_id, at="verdicts", save=save)


@home_action
def take_back_checks(request: HttpRequest, review_id: str) -> HttpResponseBase:
    """Take back the last verdict that a person gave on each ``check`` that is marked.

    Raises NotFound, also for who does not decide in the review.
    """

    def save() -> None:
        checks = read_checks_of_form(request.POST.getlist("check"))
        take_back_verdicts(principal=principal_of(request), review_id=review_id, checks=checks)

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


def _answer(request: HttpRequest, review_id: str, *, at: str, save: Callable[[], None]) -> HttpResponseBase:
    """Save, and lead back to where it was asked; a script is sent the page as it is now.

    What is refused is shown there, with what was typed; only that there is no such thing is raised.
    """
    try:
        save()
    except NotFound:
        raise
    except HubError as error:
        chosen = frozenset([*request.POST.getlist("finding"), *request.POST.getlist("check")])
        refused = Refused(at=at, typed=request.POST.dict(), error=error, chosen=chosen)
        return render_review(request, review_id, refused=refused)
    if is_fetched(request):
        return render_review(request, review_id)
    return HttpResponseRedirect(f"{reverse('review', args=[review_id])}#{at}")
