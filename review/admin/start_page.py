"""Starting a review: of which document, against what, with which suggestions; and what it would take of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from hub.admin_site.callers import principal_of
from hub.admin_site.pages import render_page
from hub.core.errors import HubError
from review.masters.listing import list_checklists
from review.runs.estimates import EstimateOut, estimate_review
from review.runs.reviews import ReviewOptions, start_review


class StartForm(forms.Form):
    """Which document to review, and against what."""

    document = forms.CharField(
        label=_("Document"), max_length=40, widget=UnfoldAdminTextInputWidget, help_text=_("Its id (doc_…).")
    )
    checklist = forms.ChoiceField(
        label=_("Check list"),
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_("By document type: the list that is made for the document's type."),
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

    def __init__(self, *args: Any, checklists: Sequence[tuple[str, str]], **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.fields["checklist"].choices = [("", _("by document type")), *checklists]  # type: ignore[attr-defined]

    @property
    def options(self) -> ReviewOptions:
        given = self.cleaned_data
        return ReviewOptions(suggestion_level=given["suggestion_level"] or "basic", judge=given["judge"] or "auto")


def start(request: HttpRequest) -> HttpResponseBase:
    """Ask what to review, then start it and show it; or tell before what it would take of a language model."""
    principal = principal_of(request)
    checklists = [(row.code, f"{row} ({row.code})") for row in list_checklists(principal)]
    initial = {"document": request.GET.get("document", ""), "suggestion_level": "basic", "judge": "auto"}
    form = StartForm(request.POST or None, checklists=checklists, initial=initial)
    estimate: list[tuple[Any, str]] | None = None
    if request.method == "POST" and form.is_valid():
        try:
            if "estimate" not in request.POST:
                review = start_review(principal=principal, **_asked(form))
                return HttpResponseRedirect(reverse("admin:review_review_change", args=[review.pk]))
            estimate = _facts(estimate_review(principal=principal, **_asked(form)))
        except HubError as error:
            form.add_error(None, str(error))
    return render_page(
        request, "admin/review/review/start.html", title=_("Start a review"), form=form, estimate=estimate
    )


def _asked(form: StartForm) -> dict[str, Any]:
    given = form.cleaned_data
    return {"document_id": given["document"].strip(), "checklist": given["checklist"], "options": form.options}


def _facts(told: EstimateOut) -> list[tuple[Any, str]]:
    """What a person wants to know before, line by line; empty where no model is asked."""
    if not (told.llm_checks or told.suggestion_requests):
        return []
    enough = _("enough") if told.fits else _("may not be enough: checks that it does not reach are left to people")
    lines = [
        (_("Checks that a model judges"), f"{told.llm_checks} / {told.checks}"),
        (_("Requests"), f"{told.requests:,}"),
        (_("Among them for summaries of a long document"), f"{told.summary_requests:,}"),
        (_("Tokens in, about"), f"{told.tokens_in:,}"),
        (_("Tokens out, at most"), f"{told.tokens_out:,}"),
        (_("Cost, at most"), str(_("no prices are set")) if told.cost is None else f"US$ {told.cost:,.2f}"),
        (_("Tokens that a review may take"), f"{told.token_budget:,} ({enough})"),
    ]
    if told.suggestion_requests:
        suggested = f"{told.suggestion_tokens_in:,} + {told.suggestion_tokens_out:,}"
        lines.insert(5, (_("For suggestions, tokens in and out at most"), suggested))
    return lines
