"""Value objects of the knowledge app: plain data, no framework, safe to import anywhere.

Offsets are half-open ``[start, end)`` in Unicode code points of a version's stored Markdown. Pages (PDF pages,
slides) count from 1. ``None`` means unknown or not applicable; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    FIGURE = "figure"
    CAPTION = "caption"
    CODE = "code"
    FRONT_MATTER = "front_matter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One structural unit of a document and where its text stands in the Markdown.

    ``level`` is set on headings only (1 to 6). ``sheet`` and ``cell`` (``"A1:D20"``) are set for spreadsheets. ``rows``
    are the sheet's rows of a table's lines, head first (``"3,5-9,11"``), where they do not follow each other.
    """

    kind: BlockKind
    start: int
    end: int
    level: int | None = None
    page: int | None = None
    sheet: str | None = None
    cell: str | None = None
    rows: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuality:
    """What a parser could read of one page. ``needs_ocr``: an image and no usable text layer."""

    number: int
    characters: int
    needs_ocr: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A remark for people about a degraded or partial answer; ``code`` is stable, the texts are not."""

    code: str
    ja: str
    en: str

    def as_dict(self) -> dict[str, str]:
        return {"code": self.code, "ja": self.ja, "en": self.en}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFigure:
    """A picture and what the document says of it; ``[start, end)`` is the block of the Markdown that shows it."""

    data: bytes
    media_type: str
    start: int
    end: int
    caption: str = ""
    alt_text: str = ""
    page: int | None = None
    sheet: str | None = None
    cell: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """What a parser returns: the Markdown that every offset refers to, and its structure.

    ``blocks`` are in document order and do not overlap, ``figures`` in the order of their blocks. ``pages_count`` is
    None for formats without pages.
    """

    format: str
    markdown: str
    blocks: tuple[Block, ...]
    figures: tuple[ParsedFigure, ...] = ()
    title: str | None = None
    pages_count: int | None = None
    pages: tuple[PageQuality, ...] = ()
    notices: tuple[Notice, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def pages_needing_ocr(self) -> tuple[int, ...]:
        return tuple(page.number for page in self.pages if page.needs_ocr)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what stands under it.

    ``title`` is the heading's text as written (number included), ``number`` its normalised number (``"3.2"``) if it
    has one. ``path`` holds the titles from the top down to this section. The heading line is ``[start, body_start)``,
    the section's own text ``[body_start, body_end)`` ends at the next heading of any level, and ``end`` is where the
    section ends, subsections included.
    """

    id: str
    title: str
    number: str | None
    level: int
    path: tuple[str, ...]
    start: int
    body_start: int
    body_end: int
    end: int
    parent_id: str | None = None
    page: int | None = None


class ChunkStrategy(StrEnum):
    SECTION = "section"
    FIXED = "fixed"
    SEMANTIC = "semantic"


class SizeUnit(StrEnum):
    TOKENS = "tokens"
    CHARACTERS = "characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOptions:
    """How a version is cut. ``size`` counts prefix, context_prefix and content together, in ``unit``."""

    strategy: ChunkStrategy = ChunkStrategy.SECTION
    size: int = 512
    overlap: int = 50
    unit: SizeUnit = SizeUnit.TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSpan:
    """One passage: ``markdown[start:end]`` is its content, verbatim.

    ``context_prefix`` (heading path, repeated table header) is added for the model only. ``token_count`` counts the
    embedding model's passage prefix, ``context_prefix`` and the content.
    """

    index: int
    start: int
    end: int
    section_path: tuple[str, ...]
    context_prefix: str
    token_count: int
    page: int | None = None
    cell: str | None = None
    has_table: bool = False
    has_figure: bool = False
    language: str | None = None


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
        """Tell whether this level has what another one has."""
        levels = list(SearchDetail)
        return levels.index(self) >= levels.index(other)


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
    ``detail`` true means ``scores``.
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

    @property
    def level(self) -> SearchDetail:
        """What ``detail`` asks for."""
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
    explanation: Explanation | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """An ontology class that a document of some type is expected to treat.

    ``labels`` and ``synonyms`` are headings and words that name the topic; ``cues`` are regular expressions whose
    match in a section's body shows that the topic is treated there and not only mentioned. ``exclusions`` are
    regular expressions of headings that only look like the topic. A ``whole_document`` topic is about the document
    itself: a heading inside another topic's chapter (the purpose of one test level) does not treat it.
    ``elements`` are what a treatment holds, ``example`` shows one in である style, ``example_polite`` in です・ます.
    """

    code: str
    label_ja: str
    label_en: str
    synonyms: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()
    required: bool = True
    severity: str = "major"
    expected_location: str = ""
    category: str = ""
    exclusions: tuple[str, ...] = ()
    whole_document: bool = False
    expected_location_en: str = ""
    elements_ja: tuple[str, ...] = ()
    elements_en: tuple[str, ...] = ()
    example: str = ""
    example_polite: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredElement:
    """What a treatment of an article holds; any of the ``words`` or ``patterns`` (regular expressions) shows it."""

    name: str
    words: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """A guideline's article (条項) as checks use it.

    ``code`` names it everywhere (``GL-3.2.1``: the guideline's ``prefix`` and the article's ``number``).
    ``document_types`` are those that must comply; an article without any only structures its guideline. ``headings``
    are other names under which documents treat it. ``applies_when`` are regular expressions of headings: with any,
    the article only applies to documents that have such a heading. ``edition`` is the guideline edition's number.
    """

    code: str
    number: str
    title: str
    guideline: str
    guideline_name: str
    prefix: str
    edition: int
    text: str = ""
    category: str = ""
    severity: str = "minor"
    document_types: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    applies_when: tuple[str, ...] = ()
    elements: tuple[RequiredElement, ...] = ()
