"""The report as one HTML file: no scripts, nothing loaded from elsewhere, made to be printed too."""

from __future__ import annotations

from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from review.report.charts import bar_chart
from review.report.facts import ReportFacts


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
