"""Scenarios: guided ways through a piece of work, each step with the way to its page, for everybody."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from hub.admin_site.pages import errors_as_messages, is_staff, principal_of
from hub.home.pages import home_action, home_page, render_home
from knowledge.models import Document
from review import scenarios as walks
from review.admin.scenarios import link_of
from review.models import Review, ScenarioRole, ScenarioStep, StepPage, StepProof

LONGEST_ID = 100
PAGES = {StepPage.SEARCH: "home", StepPage.UPLOAD: "upload"}
OF_REVIEW = (StepPage.REVIEW, StepPage.TRIAGE)
AT_THE_DESK = (StepProof.CASES_KEPT,)
"""What the page of a review here has no form for, other than the desk of the administration."""


@home_page
def scenarios(request: HttpRequest) -> HttpResponseBase:
    """List the scenarios in force with how far the person is in each."""
    return render_home(
        request,
        "home/scenarios.html",
        title=_("Scenarios"),
        scenarios=[(one, ScenarioRole(one.target_role).label) for one in walks.list_scenarios(principal_of(request))],
    )


@home_page
def scenario(request: HttpRequest, code: str) -> HttpResponseBase:
    """Show the steps with links to where they are done, and which are done. Raises NotFound."""
    principal = principal_of(request)
    found = walks.walkthrough(principal, code)
    review = walks.newest_review(principal, found)
    return render_home(
        request,
        "home/scenario.html",
        title=found.scenario.name,
        walk=found,
        role=found.scenario.get_role_display(),
        steps=[
            (step, found.is_done(step), found.is_seen(step), _link(request, step, found.document, review))
            for step in found.steps
        ],
        done=found.done_count,
        documents=walks.documents_to_walk_with(principal, found),
    )


def _link(
    request: HttpRequest, step: ScenarioStep, document: Document | None, review: Review | None
) -> tuple[str, str] | None:
    """The address and name of the page of a step: one of these pages, or the administration's for who works there.

    A review is decided and signed off on its page here; who works in the administration is led to the desk there.
    """
    if not step.page:
        return None
    page, works_there = StepPage(step.page), is_staff(request)
    is_at_desk = step.proof in AT_THE_DESK or (works_there and page == StepPage.TRIAGE)
    if not is_at_desk and (address := _home_address(page, document, review)):
        return address, str(page.label)
    link = link_of(request, step, document, review) if works_there else None
    return (link.url, str(link.label)) if link else None


def _home_address(page: StepPage, document: Document | None, review: Review | None) -> str:
    """The address of a step's page among these pages, "" where there is none; lists stand in for what is not there."""
    if page in PAGES:
        return reverse(PAGES[page])
    if page in OF_REVIEW:
        return reverse("review", args=[review.public_id]) if review else reverse("reviews")
    if page == StepPage.DOCUMENT:
        return reverse("document", args=[document.public_id]) if document else reverse("documents")
    if page == StepPage.START_REVIEW:
        return reverse("review-start", args=[document.public_id]) if document else reverse("review-choose")
    if page == StepPage.CHANGES:
        if document is None:
            return reverse("documents")
        after = urlencode({"to": review.version_number}) if review and review.version_number > 1 else ""
        return f"{reverse('document-compare', args=[document.public_id])}?{after}".rstrip("?")
    return ""


@home_action
def act(request: HttpRequest, code: str) -> HttpResponseBase:
    """Tick a step off or take the tick away (``action``, ``done``), choose a ``document``, or ``begin`` anew."""
    principal, action = principal_of(request), request.POST.get("action", "")[:LONGEST_ID]
    with errors_as_messages(request):
        if action:
            walks.tick_step(principal=principal, code=code, action=action, done=request.POST.get("done") == "1")
        elif "begin" in request.POST:
            walks.begin(principal=principal, code=code)
        else:
            document_id = request.POST.get("document", "").strip()[:LONGEST_ID]
            walks.walk_with(principal=principal, code=code, document_id=document_id)
    place = f"#step-{action}" if action else ""
    return HttpResponseRedirect(reverse("scenario", args=[code]) + place)
