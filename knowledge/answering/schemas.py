"""Shapes of answers: the same through REST and MCP."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from hub.core.shapes import filled
from knowledge.answering.types import Answer, AnswerSentence, Citation


class CitationOut(BaseModel):
    """Where a sentence stands: ``quote`` is the version's stored Markdown from start_offset to end_offset."""

    chunk_id: str = Field(description="the passage around the quote")
    document_id: str
    document_path: str
    collection: str
    title: str
    version: int
    section_path: list[str]
    page: int | None
    cell: str | None
    start_offset: int
    end_offset: int
    quote: str
    table_header: str = Field("", description="for a row of a table: the row that names its columns")
    score: float | None = Field(description="how well the passage answers, 0 to 1, calibrated")


class AnswerSentenceOut(BaseModel):
    text: str
    citations: list[CitationOut]


class AnswerOut(BaseModel):
    """An answer from the documents; ``answer`` is null when they do not answer, and notices say why."""

    query: str
    answer: str | None
    sentences: list[AnswerSentenceOut]
    notices: list[dict[str, str]]
    mode: Literal["llm", "extractive"] = Field(
        description="llm: written by a model, each sentence checked; extractive: the documents' own sentences"
    )


def _citation_out(citation: Citation) -> CitationOut:
    places = {name: getattr(citation, name) for name in ("start_offset", "end_offset", "quote", "table_header")}
    return filled(CitationOut, citation.hit, **places)


def answer_sentence_out(sentence: AnswerSentence) -> AnswerSentenceOut:
    return AnswerSentenceOut(text=sentence.text, citations=[_citation_out(one) for one in sentence.citations])


def answer_out(answer: Answer) -> AnswerOut:
    return AnswerOut(
        query=answer.query,
        answer=answer.text,
        sentences=[answer_sentence_out(sentence) for sentence in answer.sentences],
        notices=[notice.as_dict() for notice in answer.notices],
        mode=answer.mode.value,
    )
