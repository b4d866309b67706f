"""Pages around a review's documents: answers of an Excel table read in, and the difference to an earlier review."""

from __future__ import annotations

import base64
import binascii

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET
from unfold.widgets import UnfoldAdminFileFieldWidget

from hub.admin_site.callers import principal_of
from hub.admin_site.pages import render_page
from hub.core.errors import HubError
from review.admin.triage_pages import find_review
from review.models import SEVERITIES, Review
from review.report.answers import AnswerImport, apply_answers, preview_answers
from review.report.facts import label, place_of
from review.runs.finding_schemas import FindingOut
from review.runs.reviews import list_reviews
from review.triage.comparing import compare_reviews, difference
from review.triage.schemas import DiffOut

MAX_FILE_BYTES = 2_500_000
"""The file goes through the preview page once more, as text, and must fit into DATA_UPLOAD_MAX_MEMORY_SIZE."""
MAX_BASES = 50


class AnswersForm(forms.Form):
    """The table of findings that people filled in."""

    file = forms.FileField(
        label=_("Table of findings (xlsx)"),
        widget=UnfoldAdminFileFieldWidget,
        help_text=_("Download the report as xlsx, fill in the green columns, and choose the file here."),
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
    done = apply_answers(principal_of(request), review.public_id, content)
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
    shown, error = None, ""
    if base:
        try:
            shown = difference(compare_reviews(principal, review.public_id, base_id=base))
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
        groups=_groups(shown) if shown else [],
    )


def _groups(shown: DiffOut) -> list[tuple[str, str, object, list[tuple[FindingOut, str, str, str]]]]:
    """Code, colour, title and rows of each list, in the order in which a reader asks."""
    groups = (
        ("new", "bad", _("new"), shown.new),
        ("open", "warn", _("still open"), shown.open),
        ("moved", "info", _("moved"), shown.moved),
        ("fixed", "good", _("fixed"), shown.fixed),
        ("undecided", "plain", _("not decided this time"), shown.undecided),
    )
    return [
        (
            code,
            colour,
            title,
            [
                (one, label(SEVERITIES, one.severity), place_of(one), " › ".join(getattr(one, "base_section_path", ())))
                for one in found
            ],
        )
        for code, colour, title, found in groups
    ]
