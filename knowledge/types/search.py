"""What a search is asked and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from knowledge.types.notices import Notice


class SearchMode(StrEnum):
    VECTOR = "vector"
    LEXICAL = "lexical"
    HYBRID = "hybrid"


class SearchSource(StrEnum):
    """Where a search looks: in the hub, in the Amazon Bedrock knowledge base, or in both."""

    LOCAL = "local"
    BEDROCK = "bedrock"
    ALL = "all"


class SearchDetail(StrEnum):
    """How much a search tells beside the passages; each level has what those before it have."""

    NONE = "none"
    HIGHLIGHTS = "highlights"
    SCORES = "scores"
    EXPLAIN = "explain"

    def includes(self, other: SearchDetail) -> bool:
        return _LEVELS[self] >= _LEVELS[other]


_LEVELS = {level: place for place, level in enumerate(SearchDetail)}


class SearchOrder(StrEnum):
    RELEVANCE = "relevance"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """Which passages may answer; empty fields do not restrict. The caller's permissions always apply as well.

    ``classifications`` are ``c1`` to ``c3``. Dates are those of the document; a day without a time includes that day.
    """

    collections: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    document_types: tuple[str, ...] = ()
    section_path: tuple[str, ...] = ()
    language: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    classifications: tuple[str, ...] = ()
    created_from: date | None = None
    created_to: date | None = None
    updated_from: date | None = None
    updated_to: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMark:
    """Where the next page starts: behind the passages that were shown, among those there were at the first page.

    ``shown`` and ``newest`` are keys of chunks.
    """

    shown: tuple[int, ...]
    newest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A question to the index. ``threshold`` is on the calibrated 0 to 1 score; ``context_size`` counts chunks.

    What stands in 「」, 『』 or quotes must occur in a passage. ``per_document`` limits the passages of one document.
    ``after`` goes on behind an earlier answer's pages whatever was added meanwhile; ``offset`` counts from the first.
    ``detail`` true means ``scores``. ``with_facets`` counts what the found passages are of, on all pages.
    """

    text: str
    mode: SearchMode = SearchMode.HYBRID
    limit: int = 10
    threshold: float = 0.0
    filter: SearchFilter = field(default_factory=SearchFilter)
    with_context: bool = False
    context_size: int = 1
    full_document: bool = False
    order: SearchOrder = SearchOrder.RELEVANCE
    detail: SearchDetail | bool = SearchDetail.NONE
    offset: int = 0
    per_document: int | None = None
    after: PageMark | None = None
    with_facets: bool = False

    @property
    def level(self) -> SearchDetail:
        if isinstance(self.detail, bool):
            return SearchDetail.SCORES if self.detail else SearchDetail.NONE
        return self.detail


@dataclass(frozen=True, slots=True, kw_only=True)
class LegScore:
    """One leg's view of a candidate: its rank from 1 (None when the leg did not retrieve it) and raw score."""

    rank: int | None
    raw: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """A passage with the same text as a hit, which is not shown by itself."""

    chunk_id: str
    document_id: str
    document_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage that answers, or a neighbour shown with one. ``score`` is calibrated, 0 to 1, higher is better.

    ``ocr_confidence`` is set where OCR read words of it. ``context_prefix`` is not part of the content: headings above
    it, and the header of a table that it goes on with.
    ``highlights`` are half-open spans of ``content``, ``terms`` those of the query's terms that the passage has; both
    are None unless asked for.
    """

    chunk_id: str
    document_id: str
    document_path: str
    title: str
    content: str
    score: float | None
    chunk_index: int | None
    section_path: tuple[str, ...]
    page: int | None
    cell: str | None
    start_offset: int
    end_offset: int
    collection: str = ""
    version: int = 1
    context_prefix: str = ""
    ocr_confidence: float | None = None
    is_context: bool = False
    is_full_document: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    legs: Mapping[str, LegScore] | None = None
    highlights: tuple[tuple[int, int], ...] | None = None
    terms: tuple[str, ...] | None = None
    duplicates: tuple[Duplicate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteHit:
    """A passage that lives elsewhere. ``rank`` counts from 1 within its source, ``score`` is the source's own.

    ``address`` is where the source has it (a URI), out of ``location``, which is as the source gives it.
    """

    source: str
    rank: int
    title: str
    address: str
    content: str
    location: Mapping[str, Any]
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How an answer came about: the plan of each leg, what was looked for, and what restricted it.

    ``permitted`` counts the passages that might answer up to a limit, above which it is None.
    """

    mode: str
    embedding_set: str
    permitted: int | None
    plans: Mapping[str, str]
    words: Mapping[str, float]
    bigrams: Mapping[str, float]
    codes: tuple[str, ...]
    phrases: tuple[str, ...]
    filters: Mapping[str, Any]
    candidates: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """How many of the found passages have a ``value``, as `SearchFilter` takes it, in one of their document's fields.

    ``label`` is the value in the reader's language.
    """

    field: str
    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search returns. ``total_found`` counts candidates at or above the threshold before the limit.

    ``next_page`` is set whenever ``next_offset`` is. ``remote`` are passages of other sources, in their own order.
    """

    hits: tuple[Hit, ...]
    total_found: int
    remote: tuple[RemoteHit, ...] = ()
    next_offset: int | None = None
    next_page: PageMark | None = None
    notices: tuple[Notice, ...] = ()
    facets: tuple[Facet, ...] = ()
    explanation: Explanation | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)
