"""Starting a review: documents are picked by their names, the check list and the cost are told before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from hub.access.principals import Principal, Scope
from hub.admin_site.pages import principal_of, render_page
from hub.core.errors import HubError
from knowledge.admin.document_picker import document_picker, titles_of
from knowledge.documents.documents import get_document
from knowledge.models import Collection, TypeGuess
from review.judging.sweep.reading import CATEGORIES
from review.masters.listing import get_checklist, list_checklists, version_in_force
from review.report.facts import category_label
from review.runs.estimates import EstimateOut, estimate_review
from review.runs.related import MAX_RELATED
from review.runs.reviews import ReviewOptions, checklist_for, start_review

STEP_CHOICES = [("auto", _("as the hub is configured")), ("on", _("yes")), ("off", _("no"))]


class StartForm(forms.Form):
    """Which document to review, and against what."""

    document = forms.CharField(label=_("Document"), max_length=40, widget=document_picker("review", most=1))
    checklist = forms.ChoiceField(
        label=_("Check list"),
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_("By document type: the list that is made for the document's type."),
    )
    related_documents = forms.CharField(
        label=_("Related documents"),
        required=False,
        widget=document_picker("read", most=MAX_RELATED),
        help_text=_("What it is compared with, such as the requirements of a design; several may be chosen."),
    )
    suggestion_level = forms.ChoiceField(
        label=_("Suggestions"),
        choices=[
            ("none", _("none")),
            ("basic", _("of the rules")),
            ("detailed", _("of the rules, and of a language model beside them")),
        ],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    judge = forms.ChoiceField(
        label=_("What rules can't decide"),
        choices=[("auto", _("a language model, if one is configured")), ("rules", _("is left to people"))],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )

    min_confidence = forms.FloatField(
        label=_("Least confidence"),
        required=False,
        min_value=0,
        max_value=1,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Findings that are less sure are not shown: 0.9 leaves the sure ones. Empty: all."),
    )
    second_opinion = forms.ChoiceField(
        label=_("Second opinion"),
        choices=STEP_CHOICES,
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_("A language model looks again at what rules judged; it takes nothing back without a quote."),
    )
    sweep = forms.ChoiceField(
        label=_("Reading of the whole document"),
        choices=STEP_CHOICES,
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_("A language model reads all of it, and proposes what no rule looks for."),
    )
    sweep_categories = forms.MultipleChoiceField(
        label=_("Read it for"),
        choices=[(name, name) for name in CATEGORIES],
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text=_("None chosen: for all of them."),
    )

    def __init__(self, *args: Any, checklists: Sequence[tuple[str, str]], **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        named = [(name, category_label(name)) for name in CATEGORIES]
        self.fields["sweep_categories"].choices = named  # type: ignore[attr-defined]
        self.fields["checklist"].choices = [("", _("by document type")), *checklists]  # type: ignore[attr-defined]

    @property
    def options(self) -> ReviewOptions:
        given = self.cleaned_data
        return ReviewOptions(
            suggestion_level=given["suggestion_level"] or "basic",
            judge=given["judge"] or "auto",
            related_documents=tuple(_ids(given["related_documents"])),
            min_confidence=given["min_confidence"] or 0.0,
            second_opinion=given["second_opinion"] or "auto",
            sweep=given["sweep"] or "auto",
            sweep_categories=tuple(given["sweep_categories"]),
        )


def start(request: HttpRequest) -> HttpResponseBase:
    """Ask what to review, then start it and show it; or tell before what it would take of a language model."""
    principal = principal_of(request)
    initial = {"document": request.GET.get("document", ""), "suggestion_level": "basic", "judge": "auto"}
    initial |= {"second_opinion": "auto", "sweep": "auto"}
    form = StartForm(request.POST or None, checklists=_checklists(principal), initial=initial)
    plan: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        try:
            if "estimate" not in request.POST:
                review = start_review(principal=principal, **_asked(form))
                return HttpResponseRedirect(reverse("admin:review_review_change", args=[review.pk]))
            plan = _plan(principal, form)
        except HubError as error:
            form.add_error(None, str(error))
    named = " ".join(str(form[name].value() or "") for name in ("document", "related_documents"))
    return render_page(
        request,
        "admin/review/review/start.html",
        title=_("Start a review"),
        form=form,
        may_review=Collection.objects.visible_to(principal, Scope.REVIEW).exists(),
        names=titles_of(principal, _ids(named)),
        **plan,
    )


@require_GET
@never_cache
def plan(request: HttpRequest) -> HttpResponse:
    """Tell which check list a review would take and why, and what a model would cost, as a part of the page."""
    principal = principal_of(request)
    form = StartForm(request.GET, checklists=_checklists(principal))
    context: dict[str, Any] = {}
    if form.is_valid():
        try:
            context = _plan(principal, form)
        except HubError as error:
            context = {"why_not": str(error)}
    return render(request, "admin/review/review/start_plan.html", context)


def _plan(principal: Principal, form: StartForm) -> dict[str, Any]:
    """The check list with the reason for it, and the estimate; why there is none is told instead."""
    asked = _asked(form)
    document = get_document(principal, asked["document_id"], scope=Scope.REVIEW)
    checklist = get_checklist(asked["checklist"]) if asked["checklist"] else checklist_for(document)
    context: dict[str, Any] = {
        "document": document,
        "checklist": checklist,
        "version": version_in_force(checklist),
        "is_chosen": bool(asked["checklist"]),
        "is_of_type": document.document_type_id in checklist.document_types,
        "is_guess": document.type_guess == TypeGuess.MADE,
    }
    try:
        return context | {"estimate": _facts(estimate_review(principal=principal, **asked))}
    except HubError as error:
        return context | {"why_not": str(error)}


def _checklists(principal: Principal) -> list[tuple[str, str]]:
    return [(row.code, f"{row} ({row.code})") for row in list_checklists(principal)]


def _ids(text: str) -> list[str]:
    return text.replace(",", " ").replace("、", " ").split()


def _asked(form: StartForm) -> dict[str, Any]:
    given = form.cleaned_data
    return {"document_id": given["document"].strip(), "checklist": given["checklist"], "options": form.options}


def _facts(estimate: EstimateOut) -> list[tuple[Any, str]]:
    """What a person wants to know before, line by line; empty where no model is asked."""
    if not (estimate.llm_checks or estimate.suggestion_requests or estimate.sweep_requests):
        return []
    enough = _("enough") if estimate.fits else _("may not be enough: checks that it does not reach are left to people")
    lines = [
        (_("Checks that a model judges"), f"{estimate.llm_checks} / {estimate.checks}"),
        (_("Requests"), f"{estimate.requests:,}"),
        (_("Among them for summaries of a long document"), f"{estimate.summary_requests:,}"),
        (_("Tokens in, about"), f"{estimate.tokens_in:,}"),
        (_("Tokens out, at most"), f"{estimate.tokens_out:,}"),
        (_("Cost, at most"), str(_("no prices are set")) if estimate.cost is None else f"US$ {estimate.cost:,.2f}"),
        (_("Tokens that a review may take"), f"{estimate.token_budget:,} ({enough})"),
    ]
    if estimate.suggestion_requests:
        suggested = f"{estimate.suggestion_tokens_in:,} + {estimate.suggestion_tokens_out:,}"
        lines.insert(5, (_("For suggestions, tokens in and out at most"), suggested))
    if estimate.sweep_requests:
        read = f"{estimate.sweep_requests:,} / {estimate.sweep_tokens_in:,} + {estimate.sweep_tokens_out:,}"
        lines.insert(5, (_("For the reading: requests / tokens in and out, at most"), read))
        if len(estimate.sweep_categories) < len(CATEGORIES):
            lines.insert(6, (_("Read for"), ", ".join(map(category_label, estimate.sweep_categories))))
    if estimate.second_opinion_requests:
        used = (estimate.second_opinion_requests, estimate.second_opinion_tokens_in, estimate.second_opinion_tokens_out)
        lines.insert(
            5, (_("For the second opinion: requests / tokens in and out, at most"), "{:,} / {:,} + {:,}".format(*used))
        )
    return lines
