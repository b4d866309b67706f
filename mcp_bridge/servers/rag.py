"""Tools of smartreviewer-rag: passages with citations."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated

from pydantic import Field

from hub.access.principals import Scope
from hub.rest.pagination import cursor_scope, decode_cursor, encode_cursor
from knowledge.answering import AnswerOut, Question, answer_out, answer_question, search_passages
from knowledge.documents import reading
from knowledge.documents.schemas import CountOut
from knowledge.search import HitOut, page_mark, page_position, search_filter, search_out
from knowledge.types.search import SearchDetail, SearchMode, SearchOrder, SearchQuery, SearchSource
from mcp_bridge.caller import current_caller
from mcp_bridge.server import HubTool, hub_tool
from mcp_bridge.servers import embeddings, rag_graph
from mcp_bridge.servers.emptiness import nothing_in_scope
from mcp_bridge.servers.knowledge import check_ontology
from mcp_bridge.servers.schemas import (
    ChunkHit,
    Collection,
    Cursor,
    FilterIn,
    Mode,
    Query,
    SearchResult,
    VectorSearchResult,
)

ANY = FilterIn()
NOTHING_TO_SEARCH = "nothing_to_search"
Detail = Annotated[
    SearchDetail,
    Field(description="highlights: spans that the query names; scores: each leg's rank; explain: also the plan"),
]
PerDocument = Annotated[int | None, Field(ge=1, le=100, description="the most passages of one document")]


def search(
    query: Query,
    limit: Annotated[int, Field(ge=1, le=100, description="passages, their neighbours not counted")] = 5,
    with_context: Annotated[bool, Field(description="also give the passages around each hit (is_context)")] = True,
    context_size: Annotated[int, Field(ge=0, le=5, description="neighbours on each side")] = 1,
    full_document: Annotated[bool, Field(description="give whole documents instead (is_full_document)")] = False,
    collection: Collection = "",
    mode: Mode = SearchMode.HYBRID,
    threshold: Annotated[
        float, Field(ge=0, le=1, description="leave out scores below it; calibrated, 0.7 means good evidence")
    ] = 0.0,
    filter: FilterIn = ANY,
    detail: Detail = SearchDetail.NONE,
    per_document: PerDocument = None,
    source: Annotated[
        SearchSource,
        Field(description="local: this hub; bedrock: the Amazon Bedrock knowledge base it is connected to; all: both"),
    ] = SearchSource.LOCAL,
    cursor: Cursor = None,
) -> SearchResult:
    """Search inside the documents (文書検索) and get passages with citations: document, section, page or cell.

    Use it to find where something is written (記載箇所、どの文書・章・ページにあるか), and to answer from the
    documents: quote what you use, content is verbatim. Results are sorted by document path and place in the document,
    so that they read on; score (0 to 1, calibrated) tells how well each answers, and is null for neighbours
    (is_context); best names the best. Quote a phrase with 「」 to see only passages that have it as it stands; a code
    such as FR-001 or 第3条 is found exactly. notices say when an answer is partial or weak. next_cursor gives more.
    To rank by meaning only, use vector_search. With source all or bedrock, passages of Amazon Bedrock follow; source
    names them, and their source_score compares with no score of the hub.
    """
    asked = SearchQuery(
        text=query,
        mode=mode,
        limit=limit,
        threshold=threshold,
        filter=search_filter(filter, collection),
        with_context=with_context,
        context_size=context_size,
        full_document=full_document,
        order=SearchOrder.DOCUMENT,
        detail=detail,
        per_document=per_document,
    )
    return find_passages("mcp.search", asked, cursor, source)


def vector_search(
    query: Query,
    top_k: Annotated[int, Field(ge=1, le=100, description="passages")] = 5,
    threshold: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="leave out scores below it; calibrated, not raw cosines; lower it to see more",
        ),
    ] = 0.7,
    filter: FilterIn = ANY,
    collection: Collection = "",
    detail: Detail = SearchDetail.NONE,
    per_document: PerDocument = None,
    cursor: Cursor = None,
) -> VectorSearchResult:
    """Find passages by meaning (ベクトル類似検索、意味検索), best first, without neighbours.

    Use it to look for a statement in other words (言い換え、似た意味の文、同じ内容の別の表現). An empty answer means
    that nothing reached the threshold, not that nothing is there: lower it, or use search.
    """
    asked = SearchQuery(
        text=query,
        mode=SearchMode.VECTOR,
        limit=top_k,
        threshold=threshold,
        filter=search_filter(filter, collection),
        detail=detail,
        per_document=per_document,
    )
    found = find_passages("mcp.vector_search", asked, cursor)
    steps = found.timings_ms
    return VectorSearchResult(
        chunks=[_chunk_hit(hit) for hit in found.results if isinstance(hit, HitOut)],
        total_found=found.total_found,
        next_cursor=found.next_cursor,
        notices=found.notices,
        timings_ms=steps,
        explain=found.explain,
        query_embedding_time_ms=steps.get("embed"),
        search_time_ms=steps.get("total"),
    )


def answer(
    query: Query,
    collection: Collection = "",
    limit: Annotated[int, Field(ge=1, le=20, description="passages that the answer may stand on")] = 5,
    filter: FilterIn = ANY,
) -> AnswerOut:
    """Answer a question from the documents (文書に基づく回答), each sentence with verbatim citations.

    Use it for a question of fact (いつ、何を、いくつ、誰が、なぜ: 数値、期限、担当、方式); use search to read passages.
    answer is null when the documents do not answer: say so; nearest is no evidence. score is the chance that a sentence
    answers, null where a model wrote it. mode: llm (by a model, checked) or extractive (verbatim). Read notices.
    """
    asked = Question(text=query, filter=search_filter(filter, collection), limit=limit)
    return answer_out(answer_question(current_caller().principal, asked))


def get_document_count(collection: Collection = "") -> CountOut:
    """Count the documents and passages (文書数・チャンク数) that you may search.

    Use it to tell how many there are (何件、登録数、規模), and whether there is anything to search at all.
    """
    documents, chunks = reading.count_documents(current_caller().principal, collection=collection)
    return CountOut(documents=documents, chunks=chunks)


def find_passages(
    name: str, asked: SearchQuery, cursor: str | None, source: SearchSource = SearchSource.LOCAL
) -> SearchResult:
    """Search for the running call's caller; ``name`` is what cursors belong to."""
    scope = cursor_scope(name, query={**_without_limit(asked), "source": source})
    after = page_mark(decode_cursor(cursor, scope=scope)) if cursor else None
    result = search_passages(current_caller().principal, replace(asked, after=after), source=source)
    following = encode_cursor(page_position(result.next_page), scope=scope) if result.next_page else None
    found = search_out(result, next_cursor=following)
    if any(notice["code"] == NOTHING_TO_SEARCH for notice in found.notices):
        found = found.model_copy(update={"notices": [*found.notices, *nothing_in_scope(asked.filter)]})
    scored = [hit for hit in found.results if isinstance(hit, HitOut) and hit.score is not None]
    best = max(scored, key=lambda hit: hit.score or 0.0, default=None)
    return SearchResult(**dict(found), best=best.chunk_id if best else None)


def _without_limit(asked: SearchQuery) -> dict[str, object]:
    facts = asdict(asked)
    del facts["limit"]
    return facts


def _chunk_hit(hit: HitOut) -> ChunkHit:
    place = {"document_id": hit.document_id, "section_path": hit.section_path, "page_number": hit.page}
    return ChunkHit(**{**dict(hit), "metadata": {**hit.metadata, **place}}, id=hit.chunk_id)


TOOLS: tuple[HubTool, ...] = (
    hub_tool(search, title="Search documents (文書検索)", scope=Scope.SEARCH, picture="search"),
    hub_tool(
        vector_search,
        title="Search by meaning (ベクトル検索)",
        scope=Scope.SEARCH,
        picture="search",
        arguments_like={"filter": "search"},
    ),
    hub_tool(
        answer,
        title="Answer a question (回答)",
        scope=Scope.SEARCH,
        picture="answer",
        arguments_like={"filter": "search"},
    ),
    hub_tool(check_ontology, title="Check coverage (網羅性検証)", scope=Scope.READ, picture="check"),
    hub_tool(get_document_count, title="Count documents (文書数)", scope=Scope.SEARCH, picture="count"),
    embeddings.TOOL,
    *rag_graph.TOOLS,
)
