"""Evidence: quotes that are really there, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knowledge.text.structure import line_range, section_at
from knowledge.types.documents import Block, Section
from review.types import Span

MAX_QUOTE = 300


def locate(text: str, sections: Sequence[Section], blocks: Sequence[Block], span: Span | None) -> dict[str, Any]:
    """Say where a span is: section, page, lines, offsets, cells, how sure OCR was; all null for what is missing."""
    if span is None:
        names = ("page_number", "line_range", "start_offset", "end_offset", "cell", "ocr_confidence")
        return {"section_path": [], **dict.fromkeys(names)}
    section = section_at(sections, span.start)
    block = next((block for block in blocks if block.start <= span.start < block.end), None)
    return {
        "section_path": list(section.path) if section else [],
        "page_number": block.page if block else None,
        "line_range": list(line_range(text, span.start, span.end)),
        "start_offset": span.start,
        "end_offset": span.end,
        "cell": block.cell if block else None,
        "ocr_confidence": block.ocr if block else None,
    }


def quote(document_id: str, text: str, span: Span) -> dict[str, Any]:
    """Quote a span from the stored text. ``verified`` is False when the text has no such stretch."""
    end = min(span.end, span.start + MAX_QUOTE)
    content = text[span.start : end] if 0 <= span.start < span.end <= len(text) else ""
    return _evidence(content, document_id, span.start, end, verified=bool(content))


def claimed(text: str, document_id: str) -> dict[str, Any]:
    """Keep a quote that somebody claims and that the stored text does not have."""
    return _evidence(text[:MAX_QUOTE], document_id, 0, 0, verified=False)


def _evidence(content: str, document_id: str, start: int, end: int, *, verified: bool) -> dict[str, Any]:
    place = {"document_id": document_id, "start_offset": start, "end_offset": end}
    return {"quote": content, **place, "verified": verified}
