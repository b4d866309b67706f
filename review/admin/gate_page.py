"""The page that shows what a candidate would change, before it is published."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hub.admin_site.callers import errors_as_messages, principal_of
from hub.admin_site.pages import render_page
from hub.core.errors import HubError
from hub.evaluation.models import UNFINISHED_RUNS
from review.admin.evaluation_trend import LABELS
from review.curation.publishing import publish_candidate
from review.evaluation import gate
from review.evaluation import runs as evaluation_runs
from review.evaluation.gate_report import Comparison, GateReport, Standing
from review.evaluation.gate_schemas import MEASURED

WORDS = {
    Standing.NOT_MEASURED: _("not measured yet"),
    Standing.PENDING: _("being measured"),
    Standing.BETTER: _("better"),
    Standing.SAME: _("no worse"),
    Standing.WORSE: _("worse"),
    Standing.UNKNOWN: _("unknown"),
}
COLOURS = {
    Standing.NOT_MEASURED: "skipped",
    Standing.PENDING: "running",
    Standing.BETTER: "pass",
    Standing.SAME: "pass",
    Standing.WORSE: "fail",
    Standing.UNKNOWN: "warning",
}
# A page does not wait for a comparison; it looks again.
NO_WAIT_S = 0.0


@require_GET
def show(request: HttpRequest) -> HttpResponseBase:
    """Show a candidate on each dataset that guards it: measures, intervals, flipped cases."""
    try:
        report = gate.look_at(principal_of(request), request.GET.get("candidate", ""))
    except HubError as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(reverse("admin:index"))
    return render_page(
        request,
        "admin/evaluation/gate.html",
        title=_("Before publishing {candidate}").format(candidate=report.candidate),
        report=report,
        guards=[_shown(report, one) for one in report.comparisons],
        is_doubtful=bool(report.of(Standing.WORSE) or report.of(Standing.UNKNOWN)),
        is_open=any(one.standing in (Standing.NOT_MEASURED, Standing.UNKNOWN) for one in report.comparisons),
    )


def _shown(report: GateReport, one: Comparison) -> dict[str, Any]:
    """A dataset's part of the page."""
    return {
        "dataset": one.dataset,
        "word": WORDS[one.standing],
        "colour": COLOURS[one.standing],
        "is_pending": one.standing is Standing.PENDING,
        "reason": one.reason,
        "run": one.run,
        "rows": _rows(one) if one.run and "delta" in one.run.metrics else [],
        "flips": report.flips_of(one),
        "is_readable": report.is_readable(one),
    }


def _rows(one: Comparison) -> list[dict[str, Any]]:
    """Each measure: before, now with its interval, and the difference."""
    metrics = one.run.metrics if one.run else {}
    rows = []
    for name in MEASURED:
        if name in metrics:
            change = metrics["delta"].get(name)
            delta = change["value"] if isinstance(change, dict) else change
            rows.append(
                {"label": LABELS[name], "before": metrics["baseline"].get(name), "now": metrics[name], "delta": delta}
            )
    return rows


@require_POST
def compare(request: HttpRequest) -> HttpResponseRedirect:
    """Start what has to be measured, and come back to the page."""
    candidate = request.POST.get("candidate", "")
    with errors_as_messages(request):
        gate.compare(principal=principal_of(request), name=candidate, wait_s=NO_WAIT_S)
    return _back(candidate)


@require_POST
def publish(request: HttpRequest) -> HttpResponseRedirect:
    """Publish a candidate, if the gate lets it through."""
    candidate = request.POST.get("candidate", "")
    with errors_as_messages(request):
        publish_candidate(principal=principal_of(request), name=candidate)
        messages.success(request, _("{candidate} is in force.").format(candidate=candidate))
    return _back(candidate)


@require_GET
@never_cache
def progress(request: HttpRequest) -> JsonResponse:
    """Answer {run id: {status, label, progress, done}} for the runs in ``of`` that the person may read."""
    asked = request.GET.get("of", "").split(",")
    runs = evaluation_runs.list_runs(principal_of(request)).filter(public_id__in=asked)
    return JsonResponse(
        {
            run.public_id: {
                "status": run.status,
                "label": run.get_status_display(),
                "progress": run.progress,
                "reason": run.error,
                "done": run.status not in UNFINISHED_RUNS,
            }
            for run in runs
        }
    )


def _back(candidate: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('admin:evaluation_gate')}?{urlencode({'candidate': candidate})}")
