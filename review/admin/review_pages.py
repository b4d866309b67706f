"""The pages about a review: its verdicts and findings, its report, its progress, cancelling it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hub.access.principals import Principal, Scope
from hub.admin_site.pages import errors_as_messages, principal_of, render_page
from hub.core.errors import HubError
from review.models import SEVERITIES, UNFINISHED, CheckResult, RelatedVersion, Review
from review.report import FORMAT_NAMES, build_report
from review.report.facts import (
    counts_in_words,
    doubts_of,
    judge_label,
    label,
    place_of,
    sources_of,
    state_label,
    step_label,
)
from review.report.grounds import grounds_of
from review.report.quotes import quoted_documents, quotes_of
from review.runs.finding_schemas import FindingOut, SuggestionOut, certainty_label, sure_first
from review.runs.reviews import (
    cancel_review,
    get_review,
    list_reviews,
    ordered_findings,
    record_view,
)
from review.runs.schemas import ReviewOut, review_out
from review.triage.signing import sign_off_labels

MOST_POLLED = 100
MAX_QUOTES = 5


def detail(request: HttpRequest, review: Review) -> HttpResponseBase:
    """Show the verdict of each check, and the findings by severity; ``severity`` limits them to one."""
    principal = principal_of(request)
    review = get_review(principal, review.public_id)
    pairs = ordered_findings(list(review.results.all()))
    facts = review_out(review, pairs, everything=True)
    record_view(principal, review)
    counts = Counter(finding.severity for finding in facts.findings)
    doubts, grounds = doubts_of(review), grounds_of(review, facts, address=passage_link)
    documents = quoted_documents(review, facts)
    return render_page(
        request,
        "admin/review/review/detail.html",
        title=review.version.document.title if review.version else review.document_id_text,
        review=review,
        facts=facts,
        checks=[
            (
                result,
                doubts.get(result.check_item_id, ()),
                grounds.get(result.check_item_id, ()),
                judge_label(result),
                sources_of(result),
            )
            for result in facts.results
        ],
        groups=_groups(facts, documents, request.GET.get("severity", "")),
        aside=_aside(facts, documents),
        steps=[(step_label(one.step), state_label(one), counts_in_words(one)) for one in facts.steps],
        severities=[(code, label, counts[code]) for code, label in SEVERITIES],
        severity=request.GET.get("severity", ""),
        total=facts.total_findings,
        verdicts=dict(CheckResult._meta.get_field("verdict").flatchoices),
        in_work=review.status in UNFINISHED,
        state=state_of(review),
        sign_off=sign_off_labels([review])[review.pk],
        report_formats=FORMAT_NAMES.items(),
        may_act=Review.objects.visible_to(principal, Scope.REVIEW).filter(pk=review.pk).exists(),
        may_promote=_may_promote(principal, review, facts),
    )


def _may_promote(principal: Principal, review: Review, facts: ReviewOut) -> bool:
    """One query where there is something to promote."""
    if review.signed_at or not (facts.overturned or facts.candidates):
        return False
    return Review.objects.visible_to(principal, Scope.TRIAGE).filter(pk=review.pk).exists()


def _aside(facts: ReviewOut, documents: Mapping[str, RelatedVersion]) -> list[tuple[Any, list[dict[str, Any]]]]:
    """The findings that do not count, by why, as the page shows them."""
    kinds = ((_("Overturned by a language model"), facts.overturned), (_("Candidates"), facts.candidates))
    return [(label, [_shown(one, [], facts, documents) for one in found]) for label, found in kinds if found]


def _groups(
    facts: ReviewOut, documents: Mapping[str, RelatedVersion], severity: str
) -> list[tuple[str, Any, list[dict[str, Any]]]]:
    suggestions = facts.suggestions_by_finding()
    shown = [
        _shown(finding, suggestions.get(finding.id, []), facts, documents)
        for finding in sure_first(facts.findings)
        if severity in ("", finding.severity)
    ]
    groups = [(code, label, [one for one in shown if one["finding"].severity == code]) for code, label in SEVERITIES]
    return [group for group in groups if group[2]]


def _shown(
    finding: FindingOut, suggestions: list[SuggestionOut], facts: ReviewOut, documents: Mapping[str, RelatedVersion]
) -> dict[str, Any]:
    """A finding as the page shows it."""
    start, end = finding.location.start_offset, finding.location.end_offset
    return {
        "finding": finding,
        "severity": label(SEVERITIES, finding.severity),
        "certainty": certainty_label(finding.certainty),
        "suggestions": suggestions,
        "place": place_of(finding, below=" › ", until="–"),
        "link": "" if start is None or end is None else passage_link(facts.document_id, facts.version, start, end),
        "quotes": quotes_of(finding.evidence[:MAX_QUOTES], documents, address=passage_link),
        "more_quotes": max(0, len(finding.evidence) - MAX_QUOTES),
    }


def passage_link(document_id: str, version: int, start: int, end: int) -> str:
    """The address of a passage's document in the administration."""
    place = urlencode({"version": version, "start": start, "end": end})
    return f"{reverse('admin:knowledge_document_by_id', args=[document_id])}?{place}"


def find_listed(request: HttpRequest, pk: int) -> Review:
    """Find a review that the person may read, as a list has it; else 404."""
    review = list_reviews(principal_of(request)).filter(pk=pk).first()
    if review is None:
        raise Http404
    return review


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    """Stop the review; its results so far stay."""
    review = find_listed(request, pk)
    with errors_as_messages(request):
        stopped = cancel_review(principal=principal_of(request), review_id=review.public_id)
        messages.success(request, _("The review is now: {state}.").format(state=stopped.get_status_display()))
    return HttpResponseRedirect(reverse("admin:review_review_change", args=[pk]))


@require_GET
def report(request: HttpRequest, pk: int, report_format: str) -> HttpResponseBase:
    """Send the report as a file."""
    review = find_listed(request, pk)
    try:
        built = build_report(principal=principal_of(request), review_id=review.public_id, report_format=report_format)
    except HubError as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(reverse("admin:review_review_change", args=[pk]))
    response = HttpResponse(built.content, content_type=built.content_type)
    response["Content-Disposition"] = content_disposition_header(True, built.filename) or "attachment"
    return response


@require_GET
@never_cache
def progress(request: HttpRequest) -> JsonResponse:
    """Answer {number: {status, label, progress, reason, done}} for the reviews in ``of`` (at most 100)."""
    asked = [text for text in request.GET.get("of", "").split(",") if text.isascii() and text.isdigit()]
    reviews = list_reviews(principal_of(request)).select_related("version").filter(pk__in=asked[:MOST_POLLED])
    return JsonResponse({str(review.pk): _progress_of(review) for review in reviews})


def state_of(review: Review) -> tuple[str, int]:
    """A review's state in words and percent: while its document is still being read, those of the document."""
    version = review.awaited_version
    if version is None:
        return review.get_status_display(), review.progress
    return _("document: {stage}").format(stage=version.get_status_display()), version.progress


def _progress_of(review: Review) -> dict[str, object]:
    label, percent = state_of(review)
    return {
        "status": review.status,
        "label": label,
        "progress": percent,
        "reason": review.error,
        "done": review.status not in UNFINISHED,
    }
