"""Shapes of search results in answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import accumulate
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from hub.core.shapes import filled
from knowledge.types.search import Hit, LegScore, PageMark, SearchResult


def _leg_facts(legs: Mapping[str, LegScore | dict[str, Any]] | None) -> dict[str, dict[str, Any]] | None:
    """Take the legs of a hit, and those of an answer that was written down before."""
    return {name: leg if isinstance(leg, dict) else asdict(leg) for name, leg in legs.items()} if legs else None


class DuplicateOut(BaseModel):
    chunk_id: str
    document_id: str
    document_path: str


class HitOut(BaseModel):
    source: Literal["local"] = "local"
    chunk_id: str
    document_id: str
    document_path: str
    collection: str
    version: int
    title: str
    content: str
    context_prefix: str = Field("", description="what stands above: headings, the header of a table that goes on")
    score: float | None = Field(description="0 to 1, calibrated; null for context")
    chunk_index: int | None
    section_path: list[str]
    page: int | None
    cell: str | None
    start_offset: int
    end_offset: int
    ocr_confidence: float | None = Field(None, description="0 to 1, how sure OCR was of words it read; null: none were")
    is_context: bool
    is_full_document: bool
    metadata: dict[str, Any]
    legs: Annotated[dict[str, dict[str, float | int | None]] | None, BeforeValidator(_leg_facts)] = None
    highlights: list[tuple[int, int]] | None = Field(None, description="spans of content that the query names")
    terms: list[str] | None = Field(None, description="the query's terms that the passage has (detail explain)")
    duplicates: list[DuplicateOut] = Field([], description="passages with the same text, not shown by themselves")


class RemoteHitOut(BaseModel):
    """A passage of another source, with the names that the hub's passages have; what only they have is null."""

    source: Literal["bedrock"]
    rank: int = Field(description="from 1, in the source's own order")
    source_score: float | None = Field(description="as the source gives it; compares with nothing else")
    location: dict[str, Any] = Field(description="where it is: {type: S3, s3Location: {uri}} and the like")
    chunk_id: None = None
    document_id: None = None
    document_path: str = Field(description="the URI or URL in location")
    title: str
    content: str
    context_prefix: Literal[""] = ""
    score: None = Field(None, description="null: not calibrated")
    chunk_index: None = None
    section_path: list[str] = []
    page: None = None
    cell: None = None
    start_offset: None = None
    end_offset: None = None
    is_context: Literal[False] = False
    is_full_document: Literal[False] = False
    metadata: dict[str, Any] = {}


class ExplanationOut(BaseModel):
    mode: str = Field(description="the mode that answered")
    embedding_set: str
    permitted: int | None = Field(description="passages that might answer; null above 10,000")
    plans: dict[str, str] = Field(description="how each leg went about it")
    words: dict[str, float] = Field(description="what was looked for, with weights; synonyms weigh less than 1")
    bigrams: dict[str, float]
    codes: list[str] = Field(description="codes such as FR-001: passages that have them come first")
    phrases: list[str] = Field(description="quoted phrases: passages without them are left out")
    filters: dict[str, Any]
    candidates: dict[str, int]


class SearchOut(BaseModel):
    results: list[HitOut | RemoteHitOut] = Field(
        description="the hub's passages, then those of other sources; source tells which"
    )
    total_found: int = Field(description="candidates at or above the threshold, before the limit")
    next_cursor: str | None
    notices: list[dict[str, str]]
    timings_ms: dict[str, float] = Field(
        description="of each step (the model works beside others, so that they can add up to more) and in total"
    )
    explain: ExplanationOut | None = Field(None, description="with detail explain")


def hit_out(hit: Hit) -> HitOut:
    return HitOut.model_validate(hit, from_attributes=True)


def search_out(result: SearchResult, *, next_cursor: str | None) -> SearchOut:
    """``next_cursor`` is made by the door from `page_position`."""
    remote = [
        filled(RemoteHitOut, hit, source_score=hit.score, document_path=hit.address, score=None)
        for hit in result.remote
    ]
    return SearchOut(
        results=[*map(hit_out, result.hits), *remote],
        total_found=result.total_found,
        next_cursor=next_cursor,
        notices=[notice.as_dict() for notice in result.notices],
        timings_ms=dict(result.timings_ms),
        explain=ExplanationOut(**asdict(result.explanation)) if result.explanation else None,
    )


def page_position(mark: PageMark) -> dict[str, Any]:
    """Write down where the next page starts, small enough for a cursor: keys of passages as steps between them."""
    shown = sorted(mark.shown)
    return {"shown": [b - a for a, b in zip([0, *shown], shown, strict=False)], "newest": mark.newest}


def page_mark(position: Mapping[str, Any]) -> PageMark:
    return PageMark(shown=tuple(accumulate(position["shown"])), newest=position["newest"])
