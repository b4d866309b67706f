"""What callers ask of search, the same through REST and MCP."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from hub.core.moments import Moment
from knowledge.types.search import SearchFilter

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
    told = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items() if value}
    return told | {name: day.isoformat() for name, day in days.items() if day}


def several(value: str | list[str]) -> tuple[str, ...]:
    """Read a field that takes one value or a list of them."""
    return (value,) if isinstance(value, str) else tuple(value)


def named(value: str | list[str]) -> tuple[str, ...]:
    """Read such a field where an empty name says nothing."""
    return tuple(name for name in several(value) if name)
