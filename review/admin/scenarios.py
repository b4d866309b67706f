"""Scenarios in the admin: choosing one, walking through its steps and where they are done, curating versions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import resolve, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from hub.access.principals import HubRight, Principal
from hub.access.versions import CuratedVersion, refusals
from hub.admin_site.base import HubStackedInline, everybody
from hub.admin_site.pages import errors_as_messages, principal_of, render_page
from hub.core.errors import Conflict, NotFound
from knowledge.admin.curated import CuratedRowsMixin, CuratedVersionAdmin, OrderedRowsMixin
from knowledge.admin.fields import document_types_field, type_names
from knowledge.models import Document
from review import scenarios
from review.models import Review, Scenario, ScenarioRole, ScenarioStep, StepPage
from review.scenarios import versions as scenario_versions

PAGES = {
    StepPage.OVERVIEW: "index",
    StepPage.SEARCH: "hub_search",
    StepPage.UPLOAD: "knowledge_document_upload",
    StepPage.CHECKLISTS: "review_checklist_changelist",
    StepPage.CHECK_ITEMS: "review_checkitem_changelist",
    StepPage.GUIDELINES: "knowledge_guideline_changelist",
    StepPage.ONTOLOGIES: "knowledge_ontology_changelist",
    StepPage.PROMPTS: "review_judgeprompt_changelist",
    StepPage.EVALUATION: "evaluation_evaluationdataset_changelist",
    StepPage.AUDIT: "access_auditevent_changelist",
}
LIST_ENDING = re.compile("_changelist$")
OF_REVIEW = {
    StepPage.REVIEW: "review_review_change",
    StepPage.TRIAGE: "review_review_triage",
    StepPage.CHANGES: "review_review_diff",
    StepPage.ANSWERS: "review_review_answers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLink:
    """Where to go; ``is_exact`` is False where the list stands in for the document's or review's own page."""

    url: str
    label: str | Promise
    is_exact: bool


def link_of(
    request: HttpRequest, step: ScenarioStep, document: Document | None, review: Review | None
) -> StepLink | None:
    """Find the page of a step; None when it has none, or when it is a list that the person may not open.

    Without a document or review it is their list.
    """
    if not step.page:
        return None
    page = StepPage(step.page)
    url, is_exact = _address(page, document, review)
    return StepLink(url=url, label=page.label, is_exact=is_exact) if _may_open(request, url) else None


def _may_open(request: HttpRequest, url: str) -> bool:
    """Whether the administration would show this address, if it is a list of rows; what is no list says so itself."""
    name, is_list = LIST_ENDING.subn("", resolve(url).url_name or "")
    if not is_list:
        return True
    return admin.site.get_model_admin(apps.get_model(name.replace("_", ".", 1))).has_view_permission(request)


def _address(page: StepPage, document: Document | None, review: Review | None) -> tuple[str, bool]:
    if page in PAGES:
        return reverse(f"admin:{PAGES[page]}"), True
    if page in OF_REVIEW:
        if review is not None:
            return reverse(f"admin:{OF_REVIEW[page]}", args=[review.pk]), True
        return reverse("admin:review_review_changelist"), False
    if page == StepPage.START_REVIEW:
        chosen = f"?{urlencode({'document': document.public_id})}" if document else ""
        return reverse("admin:review_review_start") + chosen, True
    if document is not None:
        return reverse("admin:knowledge_document_by_id", args=[document.public_id]), True
    return reverse("admin:knowledge_document_changelist"), False


class StepInline(OrderedRowsMixin, CuratedRowsMixin, HubStackedInline):
    """The steps of a version; they change with it, while it is a draft."""

    model = ScenarioStep
    order_by, first_place = "position", 1
    fields = (
        ("position", "action"),
        ("page", "proof"),
        ("title_ja", "title_en"),
        ("description_ja", "description_en"),
        ("expected_ja", "expected_en"),
    )
    extra = 0


@never_cache
def walk(request: HttpRequest, code: str) -> HttpResponseBase:
    """Show the steps with links to where they are done, and which are done."""
    principal = principal_of(request)
    try:
        found = scenarios.walkthrough(principal, code)
    except NotFound as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(reverse("admin:review_scenario_changelist"))
    review = scenarios.newest_review(principal, found)
    return render_page(
        request,
        "admin/review/scenario/walk.html",
        title=found.scenario.name,
        scenario=found.scenario,
        role=found.scenario.get_role_display(),
        steps=[
            (step, found.is_done(step), found.is_seen(step), link_of(request, step, found.document, review))
            for step in found.steps
        ],
        next_step=found.next_step,
        done=found.done_count,
        is_begun=found.is_begun,
        counts_from_start=found.counts_from_start,
        document=found.document,
        documents=scenarios.documents_to_walk_with(principal, found),
        review=review,
        may_curate=principal.may(HubRight.MASTERS),
    )


@require_POST
def tick(request: HttpRequest, code: str) -> HttpResponseRedirect:
    """Tick a step off, or take the tick away."""
    action = request.POST.get("action", "")
    with errors_as_messages(request):
        scenarios.tick_step(
            principal=principal_of(request), code=code, action=action, done=request.POST.get("done") == "1"
        )
    return _back(code, f"step-{action}")


@require_POST
def choose_document(request: HttpRequest, code: str) -> HttpResponseRedirect:
    """Walk through with another document."""
    with errors_as_messages(request):
        scenarios.walk_with(
            principal=principal_of(request), code=code, document_id=request.POST.get("document", "").strip()
        )
    return _back(code)


@require_POST
def begin(request: HttpRequest, code: str) -> HttpResponseRedirect:
    """Begin, or begin anew: what was ticked off before is forgotten."""
    with errors_as_messages(request):
        scenarios.begin(principal=principal_of(request), code=code)
    return _back(code)


def _back(code: str, place: str = "") -> HttpResponseRedirect:
    address = reverse("admin:review_scenario_walk", args=[code])
    return HttpResponseRedirect(f"{address}#{place}" if place else address)


def _versions_with_refusals(principal: Principal) -> list[tuple[Scenario, Conflict | None]]:
    """All versions, each draft with why the person may not publish it, if they may not."""
    rows = Scenario.objects.select_related("author")
    return [(row, refusals(principal, row)["publisher_refused"]) for row in rows]


class ScenarioForm(forms.ModelForm[Scenario]):
    """Types of documents are chosen by name."""

    document_types = document_types_field()


@admin.register(Scenario)
class ScenarioAdmin(CuratedVersionAdmin):
    """A page to choose a scenario on, a page to walk through it, and Django's form for drafts."""

    right = HubRight.MASTERS
    form = ScenarioForm
    fields = ("code", "role", "name_ja", "name_en", "description_ja", "description_en", "document_types", "reason")
    inlines = (StepInline,)
    pages = {
        "review_scenario_walk": ("walk/<slug:code>/", walk),
        "review_scenario_tick": ("walk/<slug:code>/step/", tick),
        "review_scenario_document": ("walk/<slug:code>/document/", choose_document),
        "review_scenario_begin": ("walk/<slug:code>/begin/", begin),
    }
    buttons = ("publish", "copy")

    may_view = everybody

    def get_fields(self, request: HttpRequest, obj: Scenario | None = None) -> tuple[str, ...]:
        """Fields to fill in, and of a version that nobody changes any more the names of what was chosen."""
        may_choose = obj is None or self.has_change_permission(request, obj)
        return tuple("types_text" if name == "document_types" and not may_choose else name for name in self.fields)

    def get_readonly_fields(self, request: HttpRequest, obj: CuratedVersion | None = None) -> tuple[str, ...]:
        return (*super().get_readonly_fields(request, obj), "types_text")

    @admin.display(description=_("document types"))
    def types_text(self, scenario: Scenario) -> str:
        types = type_names()
        return "、".join(types.get(code, code) for code in scenario.document_types)

    def save_draft(self, principal: Principal, version: Scenario) -> None:
        scenario_versions.save_scenario_draft(principal=principal, scenario=version)

    def make_draft(self, principal: Principal, pk: int) -> Scenario:
        """Make a draft of a version, or give the draft that there is."""
        return scenario_versions.new_scenario_version(principal=principal, scenario_id=pk)

    def publish_draft(self, principal: Principal, pk: int) -> Scenario:
        return scenario_versions.publish_scenario(principal=principal, scenario_id=pk)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """Show the scenarios in force with how far the person is, and to curators all versions."""
        if not self.has_view_permission(request):
            return HttpResponse(status=403)
        principal = principal_of(request)
        return render_page(
            request,
            "admin/review/scenario/list.html",
            title=_("Scenarios"),
            scenarios=scenarios.list_scenarios(principal),
            roles=dict(ScenarioRole.choices),
            versions=_versions_with_refusals(principal) if principal.may(HubRight.MASTERS) else (),
        )
