"""Marking spans of a passage, safe to show."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe


def highlight(text: str, spans: Iterable[tuple[int, int]]) -> SafeString:
    """Escape ``text`` and put ``<mark>`` around half-open spans, which are in order and do not overlap.

    >>> highlight("性能<要件>は３秒", [(0, 2), (3, 5)])
    '<mark>性能</mark>&lt;<mark>要件</mark>&gt;は３秒'
    """
    parts: list[str] = []
    end = 0
    for start, stop in spans:
        parts += [escape(text[end:start]), "<mark>", escape(text[start:stop]), "</mark>"]
        end = stop
    return mark_safe("".join([*parts, escape(text[end:])]))  # noqa: S308 (every part of the text is escaped above)
