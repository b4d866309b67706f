"""What callers ask of search: the filter as REST and MCP read it, what is checked, and what the text asks for."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, Any

from django.db import Error
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, ConfigDict, Field

from hub.access.principals import Classification
from hub.core.database import in_one_line
from hub.core.errors import InvalidInput
from hub.core.moments import Moment
from knowledge.index.analysis import NO_SYNONYMS, QueryTerms, analyse_query
from knowledge.search import notices
from knowledge.search.database import going_back
from knowledge.search.phrases import find_phrases
from knowledge.search.scope import first_after, moment_of
from knowledge.text.folding import LONE_SURROGATE
from knowledge.types.notices import Notice
from knowledge.types.search import SearchFilter, SearchMode, SearchQuery

logger = logging.getLogger(__name__)
MAX_QUERY_CHARS = 10_000
MAX_LIMIT = 100
MAX_CONTEXT_SIZE = 5
MAX_OFFSET = 10_000
Expand = Callable[[str], Mapping[str, str]]
"""Gives other names of what a text names, each with the name that is there."""
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
    check_number("limit", query.limit, 1, MAX_LIMIT)
    check_number("offset", query.offset, 0, MAX_OFFSET)
    check_number("threshold", query.threshold, 0, 1)
    check_number("context_size", query.context_size, 0, MAX_CONTEXT_SIZE)
    _refuse_nul("query", text)
    if query.per_document is not None:
        check_number("per_document", query.per_document, 1, MAX_LIMIT)
    _check_filter(query.filter)
    return replace(query, text=LONE_SURROGATE.sub("\ufffd", text))


def _check_filter(restriction: SearchFilter) -> None:
    for name in _TEXT_FIELDS:
        for text in (leaf for leaf in _leaves(getattr(restriction, name)) if isinstance(leaf, str)):
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
    """Refuse a span that ends before it begins: it would find nothing, and not say why."""
    end = first_after(last) if last else None
    if first and last and end and moment_of(first) >= end:
        raise InvalidInput(
            _("{field}: {first} comes after {other}, {last}."),
            field=f"filter.{name}_from",
            first=first.isoformat(),
            other=f"filter.{name}_to",
            last=last.isoformat(),
        )


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


def check_number(field: str, value: float, low: int, high: int) -> None:
    """Raise InvalidInput for a number of ``field`` that is not finite, or not from ``low`` to ``high``."""
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


# A heading may be long; a list of names comes from a person or a model, not from a table.
Name = Annotated[str, Field(max_length=1000)]
Names = Annotated[list[Name], Field(max_length=200)]


class FilterIn(BaseModel):
    """Which passages may answer; what is left out, or empty, does not restrict. Other names are refused."""

    model_config = ConfigDict(extra="forbid")

    document_type: Name | Names = Field([], description="codes (文書種別)", examples=["basic_design", "test_plan"])
    document_id: Name | Names = Field([], description="ids", examples=["doc_7k3m9q2w5x8r1t4v6y0z"])
    section_path: Name | Names = Field(
        [], description="headings from the top, or a number alone", examples=["3.2", ["3 性能", "3.2 応答時間"]]
    )
    collection: Name | Names = Field([], description="slugs", examples=["default"])
    language: Annotated[str, Field(max_length=10)] | None = Field(None, description="ja or en")
    metadata: dict[str, Any] = Field(
        {}, max_length=50, description="metadata that the document has", examples=[{"project": "図書館"}]
    )
    classification: Name | Names = Field([], description="c1, c2, c3 (機密性)", examples=[["c1", "c2"]])
    created_from: date | Moment | None = Field(None, description="the document's day, such as 2026-04-01, or time")
    created_to: date | Moment | None = Field(None, description="a day is included whole")
    updated_from: date | Moment | None = Field(None, description="the day of the document's last change, or time")
    updated_to: date | Moment | None = Field(None, description="a day is included whole")


def search_filter(asked: FilterIn, collection: str = "") -> SearchFilter:
    """Read a filter; ``collection`` beside it is one more."""
    collections = named(asked.collection)
    return SearchFilter(
        collections=(*collections, collection) if collection else collections,
        document_ids=named(asked.document_id),
        document_types=named(asked.document_type),
        section_path=several(asked.section_path),
        language=asked.language or None,
        metadata=asked.metadata,
        classifications=named(asked.classification),
        created_from=asked.created_from,
        created_to=asked.created_to,
        updated_from=asked.updated_from,
        updated_to=asked.updated_to,
    )


def asked_filter(restriction: SearchFilter) -> dict[str, Any]:
    """Write a filter as callers ask for it, in JSON's types; what does not restrict is left out."""
    fields = {
        "document_type": restriction.document_types,
        "document_id": restriction.document_ids,
        "section_path": restriction.section_path,
        "collection": restriction.collections,
        "language": restriction.language,
        "metadata": restriction.metadata,
        "classification": restriction.classifications,
    }
    days = {name: getattr(restriction, name) for name in ("created_from", "created_to", "updated_from", "updated_to")}
    asked = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items() if value}
    return asked | {name: day.isoformat() for name, day in days.items() if day}


def several(value: str | list[str]) -> tuple[str, ...]:
    """Read a field that takes one value or a list of them."""
    return (value,) if isinstance(value, str) else tuple(value)


def named(value: str | list[str]) -> tuple[str, ...]:
    return tuple(name for name in several(value) if name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a query's text asks for, before any passage is looked at; ``synonyms`` as `analyse_query` takes them."""

    phrases: tuple[str, ...]
    synonyms: Mapping[str, str]
    terms: QueryTerms
    notices: tuple[Notice, ...] = ()


def read_question(query: SearchQuery, expand: Expand) -> Question:
    """Take a query's text apart; without synonyms, and with a notice, where ``expand`` fails."""
    phrases = find_phrases(query.text)
    synonyms, remarks = NO_SYNONYMS, list[Notice]()
    if query.mode is not SearchMode.VECTOR:
        try:
            with going_back():
                synonyms = expand(query.text)
        except Error as error:
            logger.error("the search goes on without synonyms: %s", in_one_line(error))
            remarks.append(notices.SYNONYMS_UNAVAILABLE)
    terms = analyse_query(query.text, synonyms=synonyms)
    return Question(phrases=phrases, synonyms=synonyms, terms=terms, notices=tuple(remarks))
