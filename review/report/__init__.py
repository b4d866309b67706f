"""Reports of a review: one set of facts, several faces."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import InvalidInput
from review.report.annotated import annotated_copy
from review.report.facts import ReportFacts, ReportOptions, load_facts
from review.report.names import name_to_file_by
from review.report.texts import render_html, render_json, render_markdown
from review.report.word import render_docx
from review.report.workbook import render_xlsx

LANGUAGES = ("ja", "en")
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


class Report(NamedTuple):
    """A rendered report, ready to be sent or written."""

    content: bytes
    content_type: str
    filename: str
    is_text: bool


class Format(NamedTuple):
    """How one kind of report is made. The annotated copy is a file of the kind that the document is."""

    render: Callable[[ReportFacts], bytes] | None
    suffix: str
    content_type: str
    is_text: bool = True


ANNOTATED = "annotated"


RENDERERS: dict[str, Format] = {
    "json": Format(render_json, "json", "application/json"),
    "markdown": Format(render_markdown, "md", "text/markdown; charset=utf-8"),
    "html": Format(render_html, "html", "text/html; charset=utf-8"),
    "xlsx": Format(render_xlsx, "xlsx", XLSX_TYPE, is_text=False),
    "docx": Format(render_docx, "docx", DOCX_TYPE, is_text=False),
    ANNOTATED: Format(None, "", "", is_text=False),
}

# What people call each kind; the keys are what addresses and requests name.
FORMAT_NAMES: dict[str, str | Promise] = {
    "json": "JSON",
    "markdown": "Markdown",
    "html": "HTML",
    "xlsx": "Excel",
    "docx": "Word",
    ANNOTATED: _("document with the findings in it"),
}


def build_report(
    *,
    principal: Principal,
    review_id: str,
    report_format: str = "json",
    language: str = "",
    baseline: str = "",
    options: ReportOptions | None = None,
) -> Report:
    """Render a review that the caller may read, with all its findings; ``baseline`` adds what changed since a review.

    Raises NotFound, InvalidInput (format, language or baseline), and for the annotated copy Conflict.
    """
    form = RENDERERS.get(report_format)
    language = language or (translation.get_language() or "ja")[:2]
    if form is None:
        raise InvalidInput(
            _("format: {value!r} is not one of {allowed}."), value=report_format, allowed=", ".join(RENDERERS)
        )
    if language not in LANGUAGES:
        raise InvalidInput(_("language: {value!r} is not one of {allowed}."), value=language, allowed="ja, en")
    with translation.override(language):
        facts = load_facts(principal, review_id, baseline=baseline, options=options or ReportOptions())
        report = _made(form, principal, facts)
    record_event(principal, "REPORT_DOWNLOAD", f"review:{review_id}", format=report_format)
    return report


def _made(form: Format, principal: Principal, facts: ReportFacts) -> Report:
    if form.render is None:
        copy = annotated_copy(principal, facts)
        return Report(*copy, is_text=copy.content_type.startswith("text/"))
    kind = _("Table of findings") if form.suffix == "xlsx" else _("Review report")
    filename = f"{name_to_file_by(str(kind), facts)}.{form.suffix}"
    return Report(form.render(facts), form.content_type, filename, form.is_text)
