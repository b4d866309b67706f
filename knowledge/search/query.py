"""Check and clean what a caller asks for, before any work is done."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification
from hub.core.errors import InvalidInput
from knowledge.search.scope import first_after, moment_of
from knowledge.text.folding import LONE_SURROGATE
from knowledge.types.search import SearchFilter, SearchQuery

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
    if any(isinstance(leaf, float) and not math.isfinite(leaf) for leaf in _leaves(restriction.metadata)):
        raise InvalidInput(_("{field}: a number in it is not finite."), field="filter.metadata")
    _check_classifications(restriction.classifications)
    for name in ("created", "updated"):
        _check_span(name, getattr(restriction, f"{name}_from"), getattr(restriction, f"{name}_to"))
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


def _check_span(name: str, first: date | None, last: date | None) -> None:
    """Refuse a span that ends before it begins: it would find nothing without telling why."""
    end = first_after(last) if last else None
    if first and last and end and moment_of(first) >= end:
        raise InvalidInput(
            _("{field}: {first} comes after {other}, {last}."),
            field=f"filter.{name}_from",
            first=first.isoformat(),
            other=f"filter.{name}_to",
            last=last.isoformat(),
        )


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    return (leaf for leaf in _leaves(value) if isinstance(leaf, str))


def _leaves(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    """Yield what a JSON value is made of: keys and values that hold nothing further."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


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
