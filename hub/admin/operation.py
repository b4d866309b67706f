"""What the front page shows to those who run the hub: what waits and how long, room, searches, failures by reason."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from hub.access.principals import Principal
from hub.admin_site.charts import chart_options, series
from hub.admin_site.pages import admin_page, principal_of
from hub.core.languages import in_language
from hub.core.measures import SEARCH_SECONDS
from knowledge.documents.reindexing import MOST_AT_ONCE, retry_documents
from knowledge.operation import Operation, failed_documents, failures_by_reason, operation

PERIODS = {"day": 24, "week": 24 * 7, "month": 24 * 30}
BLUE, RED, GREEN = "#2563eb", "#dc2626", "#16a34a"
GIGABYTE = 1024**3


def operation_context(principal: Principal, *, now: datetime, period: str) -> dict[str, Any]:
    """The figures and charts of one of PERIODS. Six queries."""
    period = period if period in PERIODS else "day"
    found = operation(principal, now=now, hours=PERIODS[period])
    return {
        "operation": found,
        "period": period,
        "periods": [("day", _("24 hours")), ("week", _("7 days")), ("month", _("30 days"))],
        "charts": _charts(found, day_only=period == "day"),
        "reasons": [
            (code, in_language(ja, en) or code, number) for code, ja, en, number in failures_by_reason(principal)
        ],
    }


def _charts(found: Operation, *, day_only: bool) -> list[tuple[str, str, str]]:
    """Title, data and options of each chart, in Chart.js's form; none before there are two intervals."""
    intervals = found.intervals
    if len(intervals) < 2:
        return []
    form = "%H:%M" if day_only else "%m-%d %H:%M"
    labels = [localtime(one.until).strftime(form) for one in intervals]
    documents = [
        _line(_("waiting or in work, at most"), [one.waiting for one in intervals], BLUE),
        _line(_("finished a minute"), [round(one.finished_per_minute, 2) for one in intervals], GREEN),
        _line(_("failed a minute"), [round(one.failed_per_minute, 2) for one in intervals], RED),
    ]
    room = [_line(_("stored files (GB)"), [round(one.stored_bytes / GIGABYTE, 3) for one in intervals], BLUE)]
    if any(one.free_bytes is not None for one in intervals):
        free = [None if one.free_bytes is None else round(one.free_bytes / GIGABYTE, 3) for one in intervals]
        room.append(_line(_("free on the disk (GB)"), free, GREEN))
    searches = [
        _line(_("searches a minute"), [round(one.searches_per_minute, 2) for one in intervals], BLUE),
        _line(_("questions without evidence"), [one.no_evidence for one in intervals], RED),
    ]
    times = [
        _line(_("half of the searches within (s)"), [_drawn(one.p50) for one in intervals], BLUE),
        _line(_("95 % of the searches within (s)"), [_drawn(one.p95) for one in intervals], RED),
    ]
    charts = [
        (_("Documents over time"), documents),
        (_("Room over time"), room),
        (_("Searches over time"), searches),
        (_("Time that searches take"), times),
    ]
    if found.cost_usd:
        costs = [_line(_("US dollars"), [round(one.cost_usd, 4) for one in intervals], BLUE)]
        charts.append((_("Cost of language models"), costs))
    options = json.dumps(chart_options())
    return [(title, json.dumps({"labels": labels, "datasets": lines}), options) for title, lines in charts]


def _drawn(seconds: float | None) -> float | None:
    """What is above the last step of the measures is drawn at that step."""
    return None if seconds is None else min(seconds, SEARCH_SECONDS.bounds[-1])


def _line(label: str, values: list[Any], colour: str) -> dict[str, Any]:
    return series(label, values, colour) | {"borderWidth": 2, "pointRadius": 0, "spanGaps": True}


@admin_page("retry-failures/", name="hub_retry_failures")
@require_POST
def retry_failures(request: HttpRequest) -> HttpResponseRedirect:
    """Work again on all documents that failed for the reason ``code``, as far as the person may; then say how many."""
    principal = principal_of(request)
    ids = failed_documents(principal, request.POST.get("code", "")[:60])
    done = retry_documents(principal=principal, document_ids=ids[:MOST_AT_ONCE])
    messages.success(request, _("Started again: {count}.").format(count=len(done.started)))
    if done.refused:
        messages.error(request, f"{len(done.refused)}: {done.refused[0][1]}")
    if left := len(ids[MOST_AT_ONCE:]):
        messages.warning(request, _("{count} are left. Start again for the rest.").format(count=left))
    return HttpResponseRedirect(reverse("admin:index"))
