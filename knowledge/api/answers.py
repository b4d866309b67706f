"""REST call about answers from the documents."""

from __future__ import annotations

from collections.abc import Iterator

from django.http.response import HttpResponseBase
from ninja import Field, Router, Schema
from pydantic import BaseModel

from hub.rest.auth import HubRequest
from hub.rest.idempotency import reads
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
)
from knowledge.answering import answer_question as answer
from knowledge.search import MAX_QUERY_CHARS, FilterIn, search_filter

router = Router()


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
