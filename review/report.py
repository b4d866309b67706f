"""Reports of a review: one set of facts, several faces."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import InvalidInput
from knowledge.models import Document
from review.schemas import FindingOut, ReviewOut, SuggestionOut, review_out
from review.services import get_review, ordered_findings

LANGUAGES = ("ja", "en")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A rendered report, ready to be sent or written."""

    content: bytes
    content_type: str
    filename: str


def build_report(*, principal: Principal, review_id: str, report_format: str = "json", language: str = "") -> Report:
    """Render a review that the caller may read. Raises NotFound, InvalidInput (format or language)."""
    render = RENDERERS.get(report_format)
    language = language or (translation.get_language() or "ja")[:2]
    if render is None:
        raise InvalidInput(
            _("format: {value!r} is not one of {allowed}."), value=report_format, allowed=", ".join(RENDERERS)
        )
    if language not in LANGUAGES:
        raise InvalidInput(_("language: {value!r} is not one of {allowed}."), value=language, allowed="ja, en")
    with translation.override(language):
        review = get_review(principal, review_id)
        facts = review_out(review, ordered_findings(list(review.results.all())))
        document = review.version.document if review.version else None
        content, suffix, content_type = render(facts, document)
    record_event(principal=principal, action="REPORT_DOWNLOAD", resource=f"review:{review_id}", format=report_format)
    return Report(content=content, content_type=content_type, filename=f"{review_id}.{suffix}")


def _render_json(facts: ReviewOut, _document: Document | None) -> tuple[bytes, str, str]:
    text = json.dumps(facts.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
    return text.encode(), "json", "application/json"


def _render_markdown(facts: ReviewOut, document: Document | None) -> tuple[bytes, str, str]:
    suggestions = {suggestion.finding_id: suggestion for suggestion in facts.suggestions}
    text = render_to_string(
        "report/review.md",
        {
            "review": facts,
            "document": document,
            "findings": [
                _Numbered(number, finding, suggestions.get(finding.id))
                for number, finding in enumerate(facts.findings, 1)
            ],
            "hidden": facts.total_findings - len(facts.findings),
        },
    )
    return text.encode(), "md", "text/markdown; charset=utf-8"


@dataclass(frozen=True, slots=True)
class _Numbered:
    number: int
    finding: FindingOut
    suggestion: SuggestionOut | None

    @property
    def place(self) -> str:
        location = self.finding.location
        parts = [" > ".join(location.section_path)] if location.section_path else []
        if location.page_number:
            parts.append(f"p. {location.page_number}")
        if location.cell:
            parts.append(location.cell)
        if location.line_range:
            first, last = location.line_range
            parts.append(f"L{first}" if first == last else f"L{first}-{last}")
        return ", ".join(parts)

    @property
    def quotes(self) -> list[str]:
        return [" ".join(item.quote.split()) for item in self.finding.evidence[:MAX_QUOTES]]

    @property
    def more_quotes(self) -> int:
        return max(0, len(self.finding.evidence) - MAX_QUOTES)


MAX_QUOTES = 5

RENDERERS: dict[str, Callable[[ReviewOut, Document | None], tuple[bytes, str, str]]] = {
    "json": _render_json,
    "markdown": _render_markdown,
}
