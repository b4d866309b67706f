"""Shapes of search results in answers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from knowledge.types import Hit, SearchResult


class HitOut(BaseModel):
    chunk_id: str
    document_id: str
    document_path: str
    collection: str
    version: int
    title: str
    content: str
    score: float | None = Field(description="0 to 1, calibrated; null for context")
    chunk_index: int | None
    section_path: list[str]
    page: int | None
    cell: str | None
    start_offset: int
    end_offset: int
    is_context: bool
    is_full_document: bool
    metadata: dict[str, Any]
    legs: dict[str, dict[str, float | int | None]] | None = None


class SearchOut(BaseModel):
    results: list[HitOut]
    total_found: int = Field(description="candidates at or above the threshold, before the limit")
    next_cursor: str | None
    notices: list[dict[str, str]]
    timings_ms: dict[str, float]


def hit_out(hit: Hit) -> HitOut:
    legs = {name: {"rank": leg.rank, "raw": leg.raw} for name, leg in hit.legs.items()} if hit.legs else None
    return HitOut(
        chunk_id=hit.chunk_id,
        document_id=hit.document_id,
        document_path=hit.document_path,
        collection=hit.collection,
        version=hit.version,
        title=hit.title,
        content=hit.content,
        score=hit.score,
        chunk_index=hit.chunk_index,
        section_path=list(hit.section_path),
        page=hit.page,
        cell=hit.cell,
        start_offset=hit.start_offset,
        end_offset=hit.end_offset,
        is_context=hit.is_context,
        is_full_document=hit.is_full_document,
        metadata=dict(hit.metadata),
        legs=legs,
    )


def search_out(result: SearchResult, *, next_cursor: str | None) -> SearchOut:
    """``next_cursor`` is made by the door from ``result.next_offset``."""
    return SearchOut(
        results=[hit_out(hit) for hit in result.hits],
        total_found=result.total_found,
        next_cursor=next_cursor,
        notices=[notice.as_dict() for notice in result.notices],
        timings_ms=dict(result.timings_ms),
    )
