"""What the tools take and give: the hub's shapes, and the names of the assistants' older design beside them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from knowledge.documents.schemas import DocumentOut, UploadOut
from knowledge.search import ExplanationOut, HitOut, SearchOut
from knowledge.search import FilterIn as SearchFilterIn
from knowledge.types.search import SearchMode
from review.masters.schemas import CheckItemOut
from review.runs.related import MAX_RELATED
from review.runs.reviews import SWEEP_LIMIT
from review.runs.schemas import ReviewOut, SummaryOut

MAX_WAIT_S = 300


class Options(BaseModel):
    """Options that a caller spells wrong are refused, not ignored."""

    model_config = ConfigDict(extra="forbid")


def _strategy_by_its_name(given: object) -> object:
    """Through REST a review's strategies are called vector_rag and graph_rag."""
    return given.removesuffix("_rag") if isinstance(given, str) else given


class ReviewOptionsIn(Options):
    parallel: bool = Field(True, description="other workers may help")
    include_evidence: bool = Field(True, description="quote the text behind each finding")
    max_findings: int = Field(100, ge=1, le=10_000, description="the most findings in the answer; all are stored")
    min_confidence: float = Field(0, ge=0, le=1, description="leave out findings that are less sure (0.9: sure ones)")
    suggestion_level: Literal["none", "basic", "detailed"] = Field("basic", description="suggestions (是正提案) wanted")
    judge: Literal["auto", "server", "sampling", "rules"] = Field(
        "auto", description="who judges checks that rules can't; without a model they come back skipped"
    )
    second_opinion: Literal["auto", "on", "off"] = Field(
        "auto", description="the hub's model looks again at what rules judged"
    )
    sweep: Literal["auto", "on", "off"] = Field("auto", description="the hub's model reads the whole document")
    sweep_limit: int = Field(SWEEP_LIMIT, ge=0, le=100, description="most findings of the sweep in each category")
    sweep_severity: Literal["critical", "major", "minor"] = Field("minor", description="least severity of them")
    sweep_categories: list[Literal["traceability", "consistency", "coverage", "structure", "terminology", "style"]] = (
        Field([], max_length=6, description="what the sweep reads for; default: all")
    )
    related_documents: list[Annotated[str, Field(max_length=60)]] = Field(
        [],
        max_length=MAX_RELATED,
        description="ids of documents to compare with",
        examples=[["doc_7k3m9q2w5x8r1t4v6y0z"]],
    )
    strategy: Annotated[
        Literal["vector", "graph", "ontology", "hybrid"] | None, BeforeValidator(_strategy_by_its_name)
    ] = Field(
        None,
        description="how every check retrieves",
        validation_alias=AliasChoices("strategy", "force_strategy"),
    )
    wait_seconds: float = Field(
        45, ge=0, le=MAX_WAIT_S, description="wait this long for the result, then answer with what there is"
    )


class ChunkingOptionsIn(Options):
    chunking_strategy: Literal["section", "fixed", "semantic"] = Field(
        "section", description="cut at headings, or at a size"
    )
    chunk_size: int = Field(512, ge=50, le=8192, description="tokens in a chunk")
    chunk_overlap: int | None = Field(
        None, ge=0, le=4096, description="tokens shared by neighbours; default: 50, or a quarter of less than 200"
    )


class ReportOptionsIn(Options):
    language: Literal["ja", "en"] | None = Field(None, description="default: the caller's language")
    include_summary: bool = Field(True, description="counts and the verdict of each check")
    include_details: bool = Field(True, description="all findings")
    include_evidence: bool = Field(True, description="the quotes behind the findings")
    baseline: str = Field(
        "", max_length=60, description="id of an earlier review of the document: the report tells what changed"
    )


class FilterIn(Options, SearchFilterIn):
    """Which passages may answer; what is left out does not restrict."""


class ReviewMetadata(BaseModel):
    checks_executed: int
    document_chunks_processed: int | None


class ReviewChange(BaseModel):
    """What became of the findings of the review before, of the same document by the same check list."""

    review_id: str
    version: int
    fixed: int
    new: int
    open: int = Field(description="found again, also where they moved")
    undecided: int = Field(description="whose check was not decided this time")


class ReviewResult(ReviewOut):
    """A review. ``status`` is the run's, ``verdict`` the outcome: pass, warning, fail or error."""

    execution_time_ms: int | None
    metadata: ReviewMetadata
    resource_uri: str = Field(description="read or subscribe to this resource to follow the review")
    since: ReviewChange | None = Field(None, description="null while it runs, and without an earlier one")


class DocumentCounts(BaseModel):
    sections_count: int | None
    pages_count: int | None
    tables_count: int | None
    figures_count: int | None


class UploadResult(UploadOut):
    processing_status: Literal["completed", "processing", "failed"] = Field(
        description="completed: searchable, or needs_ocr with a notice that says what can't be read"
    )
    structure: DocumentCounts
    resource_uri: str = Field(description="read or subscribe to this resource to follow the work on the document")


class CheckItemResult(CheckItemOut):
    id: str = Field(description="the same as check_item_id")
    type: str = Field(description="the same as check_type")
    domain: str = Field(description="the ontology that the check list uses")
    guideline_ref: str | None = Field(description="the same as guideline_reference")


class CheckItemsResult(BaseModel):
    check_items: list[CheckItemResult]
    total: int = Field(description="items on all pages together")
    filters_applied: list[str]
    notices: list[dict[str, str]] = []
    next_cursor: str | None = Field(description="give it back as cursor for the next page; null at the end")


class ReportResult(BaseModel):
    report_content: str = Field(description="the report's text, or its bytes in base64 (content_encoding tells)")
    content_encoding: Literal["text", "base64"]
    format: str
    content_type: str
    filename: str
    review_id: str
    summary: SummaryOut


class ListedReview(BaseModel):
    review_id: str = Field(description="get_review reads it, create_report writes its report")
    checklist: str
    document_version: int
    status: str = Field(description="queued, running, completed, failed or cancelled")
    verdict: str | None = Field(description="pass, warning, fail, error or not_applicable; null while it runs")
    created_at: datetime


class ListedDocument(DocumentOut):
    reviews: list[ListedReview] = Field(description="the newest reviews of the document, at most three, newest first")
    reviews_count: int = Field(description="all of them; list_reviews has the earlier ones")


class DocumentPage(BaseModel):
    items: list[ListedDocument]
    notices: list[dict[str, str]] = []
    next_cursor: str | None = Field(description="give it back as cursor for the next page; null at the end")


class ChunkHit(HitOut):
    """A passage. ``metadata`` is the document's, with document_id, section_path and page_number of the passage."""

    id: str = Field(description="the same as chunk_id")


class SearchResult(SearchOut):
    best: str | None = Field(None, description="chunk_id of the passage with the highest score")


class VectorSearchResult(BaseModel):
    chunks: list[ChunkHit]
    total_found: int = Field(description="passages at or above the threshold, before top_k")
    next_cursor: str | None
    notices: list[dict[str, str]]
    timings_ms: dict[str, float]
    query_embedding_time_ms: float | None
    search_time_ms: float | None
    explain: ExplanationOut | None = None


DocumentId = Annotated[
    str, Field(min_length=1, max_length=60, description="the document's id", examples=["doc_7k3m9q2w5x8r1t4v6y0z"])
]
Detail = Annotated[Literal["brief", "full"], Field(description="full: each check with its evidence, not only findings")]
ReviewId = Annotated[
    str, Field(min_length=1, max_length=60, description="the review's id", examples=["rev_7k3m9q2w5x8r1t4v6y0z"])
]
Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=10_000,
        description="a question or keywords, Japanese or English",
        examples=["個人情報の取扱いはどの章か"],
    ),
]
Mode = Annotated[
    SearchMode, Field(description="hybrid: by meaning and by words; vector: by meaning only; lexical: by words only")
]
Collection = Annotated[str, Field(max_length=63, description="slug of the collection; empty: all that you may use")]
Cursor = Annotated[
    str | None,
    BeforeValidator(lambda given: None if given == "" else given),  # models write "" for the first page
    Field(max_length=4000, description="next_cursor"),
]
DocumentTypeCode = Annotated[
    str,
    Field(
        max_length=40,
        description="code of the kind of document (文書種別); curators may add others",
        examples=["basic_design", "detailed_design", "requirements", "test_plan", "guideline", "other"],
    ),
]
