"""What callers ask of search, the same through REST and MCP."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from pydantic import BaseModel, Field

from knowledge.types import SearchFilter


class FilterIn(BaseModel):
    """Which passages may answer; what is left out does not restrict."""

    document_type: str | list[str] = Field([], description="for instance basic_design (基本設計書)")
    document_id: str | list[str] = Field([], description="ids such as doc_…")
    section_path: str | list[str] = Field([], description='headings from the top, or a number alone such as "3.2"')
    collection: str | list[str] = Field([], description="slugs")
    language: str | None = Field(None, description="ja or en")
    metadata: dict[str, Any] = Field({}, description="metadata that the document has")
    classification: str | list[str] = Field([], description="c1, c2, c3 (機密性)")
    created_from: date | datetime | None = Field(None, description="the document's day, such as 2026-04-01, or time")
    created_to: date | datetime | None = Field(None, description="a day is included whole")
    updated_from: date | datetime | None = None
    updated_to: date | datetime | None = None


def search_filter(asked: FilterIn, collection: str = "") -> SearchFilter:
    """Read a filter; ``collection`` beside it is one more."""
    collections = several(asked.collection)
    return SearchFilter(
        collections=(*collections, collection) if collection else collections,
        document_ids=several(asked.document_id),
        document_types=several(asked.document_type),
        section_path=several(asked.section_path),
        language=asked.language,
        metadata=asked.metadata,
        classifications=several(asked.classification),
        created_from=asked.created_from,
        created_to=asked.created_to,
        updated_from=asked.updated_from,
        updated_to=asked.updated_to,
    )


def several(value: str | list[str]) -> tuple[str, ...]:
    """Read a field that takes one value or a list of them."""
    return (value,) if isinstance(value, str) else tuple(value)


def named(value: str | list[str]) -> tuple[str, ...]:
    """Read such a field where an empty name says nothing."""
    return tuple(name for name in several(value) if name)
