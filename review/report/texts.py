"""Reports as text: JSON for programs, Markdown for people and repositories, one HTML file without scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from review.report.facts import ReportFacts

ROW_HEIGHT = 26
LABEL_WIDTH = 150
BAR_WIDTH = 230
CHART_WIDTH = LABEL_WIDTH + BAR_WIDTH + 50
BASELINE = 17


def bar_chart(title: str, counted: Sequence[tuple[str, str, int]]) -> dict[str, Any]:
    """Lay out rows of (code, label, count) as horizontal bars, in SVG units; the longest takes all the room there is.

    A count above 0 is always visible.
    """
    most = max((count for _code, _label, count in counted), default=0) or 1
    bars = []
    for index, (code, text, count) in enumerate(counted):
        width, y = max(round(BAR_WIDTH * count / most), 2 if count else 0), index * ROW_HEIGHT
        place = {"y": y + 4, "text_y": y + BASELINE, "width": width, "count_x": LABEL_WIDTH + width + 8}
        bars.append({"code": code, "label": text, "count": count, **place})
    size = {"width": CHART_WIDTH, "height": max(len(bars), 1) * ROW_HEIGHT}
    return {"title": title, "bars": bars, "label_x": LABEL_WIDTH - 8, "bar_x": LABEL_WIDTH, **size}


def render_html(facts: ReportFacts) -> bytes:
    """Write the whole report; the document's words are escaped by the template."""
    present = [row for row in facts.by_type if row[2]]
    charts = [
        bar_chart(_("Findings by severity"), facts.by_severity),
        bar_chart(_("Findings by type of check"), present),
        bar_chart(_("Findings by state"), facts.by_triage),
    ]
    context = {"facts": facts, "review": facts.review, "charts": charts, "language": (get_language() or "ja")[:2]}
    return render_to_string("report/review.html", context).encode()


def render_json(facts: ReportFacts) -> bytes:
    """Write the review's own shape, without the parts that are not wanted, and the difference as ``diff``."""
    body = facts.review.model_dump(mode="json")
    if not facts.options.summary:
        del body["summary"]
    if not facts.options.details:
        del body["findings"], body["suggestions"], body["overturned"], body["candidates"]
    elif not facts.options.evidence:
        for quoting in (*body["findings"], *body["suggestions"], *body["overturned"], *body["candidates"]):
            quoting["evidence"] = []
        for said in (*body["findings"], *body["overturned"], *body["candidates"]):
            if said["second_opinion"]:
                said["second_opinion"]["quotes"] = []
    if facts.diff:
        body["diff"] = facts.diff.model_dump(mode="json")
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode()


def render_markdown(facts: ReportFacts) -> bytes:
    """Write head, checks and findings; words of the document can't make headings or break tables."""
    return render_to_string("report/review.md", {"facts": facts, "review": facts.review}).encode()
