"""What the pages of a review do beside decisions: carrying over, cases, answers, the difference."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST
from unfold.widgets import UnfoldAdminFileFieldWidget

from hub.access.principals import Principal, Scope
from hub.admin_site.pages import errors_as_messages, principal_of, render_page
from hub.core.errors import HubError, InvalidInput, NotFound
from review.admin.desk_changes import body_of
from review.admin.triage_pages import CHOSEN_DATASET, find_review
from review.evaluation import cases
from review.models import SEVERITIES, Review
from review.report.answers import AnswerImport, apply_answers, preview_answers
from review.report.conditions import differing_conditions
from review.report.facts import label, place_of
from review.runs.reviews import get_review, list_reviews
from review.triage.asked import read_finding_ids
from review.triage.carry_over import carried_in_words, carry_triage
from review.triage.comparing import show_difference
from review.triage.decisions import promote_finding
from review.triage.schemas import DiffOut

MAX_FILE_BYTES = 2_500_000
"""The file goes through the preview page once more, as text, and must fit into DATA_UPLOAD_MAX_MEMORY_SIZE."""
MAX_BASES = 50


@require_POST
def carry(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    """Carry over what people decided in an earlier review, and say what that was."""
    review = find_review(request, pk)
    with errors_as_messages(request):
        done = carry_triage(
            principal=principal_of(request), review_id=review.public_id, base_id=request.POST.get("base", "")
        )
        messages.success(request, carried_in_words(done))
    return _back(pk, "hub-triage")


@require_POST
def promote(request: HttpRequest, pk: int, finding_id: str) -> HttpResponseRedirect:
    """Let a finding count that a model overturned or only proposed."""
    review = find_review(request, pk)
    principal = principal_of(request)
    with errors_as_messages(request):
        get_review(principal, review.public_id, scope=Scope.TRIAGE)
        if finding_id not in {one.public_id for result in review.results.all() for one in result.set_aside}:
            raise NotFound(_('There is no finding "{finding_id}".'), code="finding_not_found", finding_id=finding_id)
        promote_finding(principal=principal_of(request), finding_id=finding_id, reason=request.POST.get("reason", ""))
        messages.success(request, _("The finding counts now."))
    return HttpResponseRedirect(reverse("admin:review_review_change", args=[pk]) + "#hub-findings")


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
    message = _("Kept in {dataset}: {new} new, {known} were there.")
    text = message.format(dataset=dataset.name, new=sum(kept), known=len(kept) - sum(kept))
    return JsonResponse({"kept": len(kept), "new": sum(kept), "message": str(text)})


def _kept(principal: Principal, review: Review, asked: dict[str, Any], dataset: str) -> list[bool]:
    """Keep each; return for each whether the case is new."""
    if item := asked.get("check_item_id"):
        _case, is_new = cases.case_from_result(
            principal=principal, review_id=review.public_id, check_item_id=str(item), dataset=dataset
        )
        return [is_new]
    return [
        cases.case_from_finding(principal=principal, finding_id=finding_id, dataset=dataset)[1]
        for finding_id in read_finding_ids(review, asked)
    ]


def _back(pk: int, place: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('admin:review_review_triage', args=[pk])}#{place}")


class AnswersForm(forms.Form):
    """The table of findings that people filled in, or the annotated copy that they wrote into."""

    file = forms.FileField(
        label=_("Table of findings (xlsx) or annotated copy (docx, xlsx, pdf)"),
        widget=UnfoldAdminFileFieldWidget,
        help_text=_(
            "Download the report as xlsx and fill in the green columns, or reply to the comments of the "
            "annotated copy, and choose the file here."
        ),
    )


def answers(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Ask for the file, show what it would change, and read it in when that is confirmed."""
    review = find_review(request, pk)
    form = AnswersForm()
    found: AnswerImport | None = None
    content = b""
    if request.method == "POST":
        confirmed = "content" in request.POST
        form = AnswersForm() if confirmed else AnswersForm(request.POST, request.FILES)
        content = _confirmed(request) if confirmed else _chosen(form)
        try:
            if confirmed:
                return _apply(request, review, content)
            if content:
                found = preview_answers(principal_of(request), review.public_id, content)
        except HubError as error:
            form.add_error(None, str(error)) if form.is_bound else messages.error(request, str(error))
    return render_page(
        request,
        "admin/review/review/answers.html",
        title=_("Read answers in"),
        form=form,
        review=review,
        found=found,
        content=base64.b64encode(content).decode(),
    )


def _chosen(form: AnswersForm) -> bytes:
    if not form.is_valid():
        return b""
    file = form.cleaned_data["file"]
    if file.size > MAX_FILE_BYTES:
        form.add_error("file", _("The file is too large for this page; send it to the REST API."))
        return b""
    return bytes(file.read())


def _confirmed(request: HttpRequest) -> bytes:
    try:
        return base64.b64decode(request.POST["content"], validate=True)
    except (binascii.Error, ValueError):
        return b""  # no table of findings: the service says so


def _apply(request: HttpRequest, review: Review, content: bytes) -> HttpResponseRedirect:
    wants_next = "next_version" in request.POST
    done = apply_answers(principal_of(request), review.public_id, content, next_version=wants_next)
    if done.next_review:
        messages.success(
            request, _("The file is the next version; its review is {review}.").format(review=done.next_review)
        )
    messages.success(
        request,
        _("{changed} findings changed, {refused} rows refused.").format(
            changed=len(done.changes), refused=len(done.errors)
        ),
    )
    return HttpResponseRedirect(reverse("admin:review_review_triage", args=[review.pk]))


@require_GET
def diff(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what became of the findings of an earlier review of the document."""
    review = find_review(request, pk)
    principal = principal_of(request)
    others = list_reviews(principal, document_id=review.document_id_text, status="completed")
    bases = list(others.exclude(pk=review.pk).order_by("-id")[:MAX_BASES])
    earlier = [one.public_id for one in bases if one.pk < review.pk]
    base = request.GET.get("base", "") or (earlier[0] if earlier else "")
    shown, error, conditions = None, "", list[str]()
    if base:
        try:
            shown = show_difference(principal, review.public_id, base_id=base)
            conditions = differing_conditions(principal, get_review(principal, base), review)
        except HubError as refused:
            error = str(refused)
    return render_page(
        request,
        "admin/review/review/diff.html",
        title=_("Changes since an earlier review"),
        review=review,
        bases=bases,
        base=base,
        error=error,
        diff=shown,
        conditions=conditions,
        groups=_groups(principal, shown) if shown else [],
    )


def _groups(principal: Principal, shown: DiffOut) -> list[tuple[str, str, object, list[dict[str, Any]]]]:
    """Code, colour, title and rows of each list, in the order in which a reader asks.

    A row leads to its finding on the desk of the review that has it.
    """
    groups = (
        ("new", "bad", _("new"), shown.new, shown.current),
        ("open", "warn", _("still open"), shown.open, shown.current),
        ("moved", "info", _("moved"), shown.moved, shown.current),
        ("fixed", "good", _("fixed"), shown.fixed, shown.base),
        ("undecided", "plain", _("not decided this time"), shown.undecided, shown.base),
    )
    sides = {one.review_id for one in (shown.base, shown.current)}
    keys = dict(list_reviews(principal).filter(public_id__in=sides).values_list("public_id", "pk"))
    desks = {name: reverse("admin:review_review_triage", args=[key]) for name, key in keys.items()}
    return [
        (
            code,
            colour,
            title,
            [
                {
                    "finding": one,
                    "link": f"{desks[side.review_id]}#{one.id}",
                    "severity": label(SEVERITIES, one.severity),
                    "place": place_of(one),
                    "before": " › ".join(getattr(one, "base_section_path", ())),
                }
                for one in found
            ],
        )
        for code, colour, title, found, side in groups
    ]
