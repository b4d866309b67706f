"""Marking a query's words in a passage, safe to show."""

from __future__ import annotations

import re

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from knowledge.backends.analysis import analyse_query

MAX_WORDS = 50


def highlight(text: str, query: str) -> SafeString:
    """Escape ``text`` and put ``<mark>`` around the query's words; full and half width and case are the same.

    Words are what lexical search asks for, and what stands between spaces in the query.

    >>> highlight("性能<要件>は３秒", "性能 要件")
    '<mark>性能</mark>&lt;<mark>要件</mark>&gt;は３秒'
    """
    pattern = _pattern(query)
    if pattern is None:
        return escape(text)
    parts: list[str] = []
    end = 0
    for found in pattern.finditer(_same_length_fold(text)):
        parts += [escape(text[end : found.start()]), "<mark>", escape(text[found.start() : found.end()]), "</mark>"]
        end = found.end()
    return mark_safe("".join([*parts, escape(text[end:])]))  # noqa: S308 (every part of the text is escaped above)


def _pattern(query: str) -> re.Pattern[str] | None:
    words = {*analyse_query(query).words, *query.split()}
    folded = sorted({_same_length_fold(word) for word in words if word.strip()}, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, folded[:MAX_WORDS]))) if folded else None


def _same_length_fold(text: str) -> str:
    """Fold case and width character by character, so that offsets stay those of the original."""
    return "".join(_fold_character(character) for character in text)


def _fold_character(character: str) -> str:
    # U+FF01 to U+FF5E are the full-width forms of ASCII "!" to "~"
    plain = chr(ord(character) - 0xFEE0) if "\uff01" <= character <= "\uff5e" else character
    lower = plain.lower()
    return lower if len(lower) == 1 else plain
