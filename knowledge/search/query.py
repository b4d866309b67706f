"""Check and clean what a caller asks for, before any work is done."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification
from hub.core.errors import InvalidInput
from knowledge.backends.embedders.text import LONE_SURROGATE
from knowledge.types import SearchFilter, SearchQuery

MAX_QUERY_CHARS = 10_000
MAX_LIMIT = 100
MAX_CONTEXT_SIZE = 5
MAX_OFFSET = 10_000
_TEXT_FIELDS = (
    *("collections", "document_ids", "document_types", "section_path", "language", "metadata"),
    "classifications",
)


def check_query(query: SearchQuery) -> SearchQuery:
    """Return the query with clean text. :raises InvalidInput: names the field and what was expected."""
    text = query.text.strip()
    if not text:
        raise InvalidInput(_("query: expected some text, got none."), field="query")
    if len(text) > MAX_QUERY_CHARS:
        raise InvalidInput(
            _("query: expected at most {limit} characters, got {given}."),
            field="query",
            limit=MAX_QUERY_CHARS,
            given=len(text),
        )
    _check_number("limit", query.limit, 1, MAX_LIMIT)
    _check_number("offset", query.offset, 0, MAX_OFFSET)
    _check_number("threshold", query.threshold, 0, 1)
    _check_number("context_size", query.context_size, 0, MAX_CONTEXT_SIZE)
    _refuse_nul("query", text)
    if query.per_document is not None:
        _check_number("per_document", query.per_document, 1, MAX_LIMIT)
    _check_filter(query.filter)
    return replace(query, text=LONE_SURROGATE.sub("\ufffd", text))


def _check_filter(restriction: SearchFilter) -> None:
    for name in _TEXT_FIELDS:
        for text in _texts(getattr(restriction, name)):
            _refuse_nul(f"filter.{name}", text)
            if LONE_SURROGATE.search(text):
                raise InvalidInput(_("{field}: contains half a character (a lone surrogate)."), field=f"filter.{name}")
    _check_classifications(restriction.classifications)
    if any(not title.strip() for title in restriction.section_path):
        raise InvalidInput(
            _("{field}: expected headings or their numbers, got an empty one."), field="filter.section_path"
        )


def _check_classifications(names: tuple[str, ...]) -> None:
    for name in names:
        if name.upper() not in Classification.__members__:
            raise InvalidInput(
                _("{field}: expected c1, c2 or c3, got {given}."), field="filter.classification", given=name[:60]
            )


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _check_number(field: str, value: float, low: int, high: int) -> None:
    if not math.isfinite(value) or not low <= value <= high:
        raise InvalidInput(
            _("{field}: expected a number from {low} to {high}, got {given}."),
            field=field,
            low=low,
            high=high,
            given=value,
        )


def _refuse_nul(field: str, text: str) -> None:
    if "\0" in text:
        raise InvalidInput(_("{field}: contains a NUL character (U+0000), which no document has."), field=field)
