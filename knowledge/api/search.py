"""REST calls about search, chunks, and answers from the documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from django.http.response import HttpResponseBase
from ninja import Field, Query, Router, Schema
from pydantic import BaseModel

from hub.rest.auth import HubRequest
from hub.rest.idempotency import reads
from hub.rest.pagination import cursor_scope, decode_cursor, encode_cursor
from hub.rest.responses import server_sent_events
from hub.rest.schemas import ShortText
from knowledge.answering import (
    Answer,
    AnswerOut,
    AnswerSentence,
    Question,
    answer_out,
    answer_sentence_out,
    follow_question,
    search_passages,
)
from knowledge.answering import answer_question as answer
from knowledge.search import (
    MAX_QUERY_CHARS,
    FilterIn,
    HitOut,
    SearchOut,
    get_chunk,
    hit_out,
    neighbours,
    page_mark,
    page_position,
    search_filter,
    search_out,
)
from knowledge.types.search import SearchDetail, SearchMode, SearchOrder, SearchQuery, SearchSource

router = Router()


class SearchIn(Schema):
    query: str = Field(max_length=MAX_QUERY_CHARS)
    mode: SearchMode = SearchMode.HYBRID
    limit: int = Field(10, ge=1, le=100)
    threshold: float = Field(0.0, ge=0.0, le=1.0, description="on the calibrated 0 to 1 score")
    collection: str = Field("", max_length=1000, description="a slug, one more of filter.collection")
    filter: FilterIn = FilterIn()
    with_context: bool = False
    context_size: int = Field(1, ge=0, le=5)
    full_document: bool = False
    order: SearchOrder = SearchOrder.RELEVANCE
    detail: bool | SearchDetail = Field(
        SearchDetail.NONE,
        description="none, highlights, scores (each leg's rank and raw score; also true), explain; each has what those "
        "before it have",
    )
    per_document: int | None = Field(None, ge=1, le=100, description="the most passages of one document")
    source: SearchSource = Field(
        SearchSource.LOCAL,
        description="local: the hub; bedrock: the Amazon Bedrock knowledge base; all: both, Bedrock's passages behind "
        "the hub's",
    )
    cursor: str | None = Field(None, max_length=4000)


@router.post("/search", response=SearchOut)
@reads
def search(request: HubRequest, asked: SearchIn) -> SearchOut:
    """Find passages with citations. `next_cursor` continues where the limit or the output budget cut, whatever was
    added meanwhile. What stands in 「」, 『』 or quotes must occur; a code such as FR-001 is found exactly. Passages of
    Amazon Bedrock (`source`) are told by `source`; their scores are their own, and nothing is ranked by both.
    """
    scope = cursor_scope("search", query=asked.model_dump(mode="json", exclude={"cursor", "limit"}))
    after = page_mark(decode_cursor(asked.cursor, scope=scope)) if asked.cursor else None
    query = SearchQuery(
        text=asked.query,
        filter=search_filter(asked.filter, asked.collection),
        after=after,
        **asked.model_dump(exclude={"query", "filter", "collection", "source", "cursor"}),
    )
    result = search_passages(request.principal, query, source=asked.source)
    following = encode_cursor(page_position(result.next_page), scope=scope) if result.next_page else None
    return search_out(result, next_cursor=following)


@router.get("/chunks/{chunk_id}", response=HitOut)
def get_chunk_by_id(request: HubRequest, chunk_id: str) -> HitOut:
    """One passage with its citation."""
    return hit_out(get_chunk(request.principal, chunk_id))


@router.get("/chunks/{chunk_id}/neighbors", response=list[HitOut])
def get_chunk_neighbors(
    request: HubRequest,
    chunk_id: str,
    before: Annotated[int, Query(ge=0, le=20)] = 1,
    after: Annotated[int, Query(ge=0, le=20)] = 1,
) -> list[HitOut]:
    """The passages around one, in the document's order."""
    return [hit_out(hit) for hit in neighbours(request.principal, chunk_id, before=before, after=after)]


class AnswerIn(Schema):
    query: str = Field(max_length=MAX_QUERY_CHARS)
    collection: ShortText = Field("", description="a slug; empty: all collections that the caller may search")
    limit: int = Field(5, ge=1, le=20, description="passages that the answer may stand on")
    filter: FilterIn = FilterIn()
    stream: bool = Field(False, description="server-sent events: sentence for each one, then answer with the whole")


@router.post("/answer", response=AnswerOut)
@reads
def answer_question(request: HubRequest, asked: AnswerIn) -> AnswerOut | HttpResponseBase:
    """Answer from the documents, each sentence with its citations; `answer` is null when they don't answer."""
    question = Question(text=asked.query, filter=search_filter(asked.filter, asked.collection), limit=asked.limit)
    if asked.stream:
        return server_sent_events(request, _events(follow_question(request.principal, question)))
    return answer_out(answer(request.principal, question))


def _events(parts: Iterator[AnswerSentence | Answer]) -> Iterator[tuple[str, BaseModel]]:
    for part in parts:
        if isinstance(part, Answer):
            yield "answer", answer_out(part)
        else:
            yield "sentence", answer_sentence_out(part)
