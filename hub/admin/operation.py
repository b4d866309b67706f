"""What the front page shows to those who run the hub: what waits and how long, room, searches, failures by reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
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
from knowledge.operation import Interval, Operation, failed_documents, failures_by_reason, operation

PERIODS = {"day": 24, "week": 24 * 7, "month": 24 * 30}
BLUE, RED, GREEN = "#2563eb", "#dc2626", "#16a34a"
GIGABYTE = 1024**3
DOT = 2


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
    if len(found.intervals) < 2:
        return []
    form = "%H:%M" if day_only else "%m-%d %H:%M"
    ends, intervals = zip(*_in_equal_steps(found), strict=True)
    labels = [localtime(end).strftime(form) for end in ends]

    def line(label: str, value: Callable[[Interval], float | None], colour: str) -> dict[str, Any]:
        return _line(label, [None if one is None else value(one) for one in intervals], colour)

    documents = [
        line(_("waiting or in work, at most"), lambda one: one.waiting, BLUE),
        line(_("finished a minute"), lambda one: round(one.finished_per_minute, 2), GREEN),
        line(_("failed a minute"), lambda one: round(one.failed_per_minute, 2), RED),
    ]
    room = [line(_("stored files (GB)"), lambda one: _gigabytes(one.stored_bytes), BLUE)]
    if any(one.free_bytes is not None for one in found.intervals):
        room.append(line(_("free on the disk (GB)"), lambda one: _gigabytes(one.free_bytes), GREEN))
    searches = [
        line(_("searches a minute"), lambda one: round(one.searches_per_minute, 2), BLUE),
        line(_("questions without evidence a minute"), lambda one: round(one.no_evidence_per_minute, 2), RED),
    ]
    times = [
        line(_("half of the searches within (s)"), lambda one: _drawn(one.p50), BLUE),
        line(_("95 % of the searches within (s)"), lambda one: _drawn(one.p95), RED),
    ]
    charts = [
        (_("Documents over time"), documents),
        (_("Room over time"), room),
        (_("Searches over time"), searches),
        (_("Time that searches take"), times),
    ]
    if found.cost_usd:
        costs = [line(_("US dollars"), lambda one: round(one.cost_usd, 4), BLUE)]
        charts.append((_("Cost of language models"), costs))
    options = json.dumps(chart_options())
    return [(title, json.dumps({"labels": labels, "datasets": lines}), options) for title, lines in charts]


def _in_equal_steps(found: Operation) -> list[tuple[datetime, Interval | None]]:
    """The intervals from the first to the last, each with its end, and None where the hub kept no sample."""
    step = found.interval_minutes * 60
    kept = {int(one.until.timestamp()) // step: one for one in found.intervals}
    return [
        (kept[at].until if at in kept else datetime.fromtimestamp((at + 1) * step, UTC), kept.get(at))
        for at in range(min(kept), max(kept) + 1)
    ]


def _gigabytes(size: int | None) -> float | None:
    return None if size is None else round(size / GIGABYTE, 3)


def _drawn(seconds: float | None) -> float | None:
    """What is above the last step of the measures is drawn at that step."""
    return None if seconds is None else min(seconds, SEARCH_SECONDS.bounds[-1])


def _line(label: str, values: list[float | None], colour: str) -> dict[str, Any]:
    """A line that breaks where nothing is known, with a dot for a value between two such places."""
    around = [None, *values, None]
    alone = [before is None and after is None for before, after in zip(around, around[2:], strict=False)]
    radii = [DOT if one else 0 for one in alone]
    return series(label, values, colour) | {"borderWidth": 2, "pointRadius": radii, "spanGaps": False}


@admin_page("retry-failures/", name="hub_retry_failures")
@require_POST
def retry_failures(request: HttpRequest) -> HttpResponseRedirect:
    """Work again on all documents that failed for the reason ``code``, as far as the person may; then say how many."""
    principal = principal_of(request)
    ids = failed_documents(principal, request.POST.get("code", "")[:60])
    done = retry_documents(principal=principal, document_ids=ids[:MOST_AT_ONCE])
    messages.success(request, _("Started again: {count}.").format(count=len(done.done)))
    if done.refused:
        messages.error(request, f"{len(done.refused)}: {done.refused[0][1]}")
    if left := len(ids[MOST_AT_ONCE:]):
        messages.warning(request, _("{count} are left. Start again for the rest.").format(count=left))
    return HttpResponseRedirect(reverse("admin:index"))
