"""Shapes of answers: the same through REST and MCP."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from hub.core.shapes import filled
from knowledge.answering.asked import Wanted
from knowledge.answering.types import Answer, AnswerSentence, Citation, in_lines


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
    score: float | None = Field(
        description="the chance that the quote answers the question by its signs alone, 0 to 1; null: not rated"
    )


class AnswerSentenceOut(BaseModel):
    text: str
    score: float | None = Field(
        description="the chance that the sentence answers the question, 0 to 1, best first; null: a model wrote it"
    )
    citations: list[CitationOut]


class LookedForOut(BaseModel):
    kind: Wanted = Field(description="what kind of thing the question asks for")
    thing: str = Field(description="the thing in the question's words; empty where it names none")
    found: list[str] = Field(description="the question's words that the cited, else the nearest, places have")
    missing: list[str] = Field(description="the question's words that none of them has")


class AnswerPartOut(BaseModel):
    asks: str = Field(description="this part of the question, by itself")
    answer: str | None = Field(description="the lines of the whole answer that answer it; null where nothing does")
    looked_for: LookedForOut


class AnswerOut(BaseModel):
    """An answer from the documents; ``answer`` is null when they do not answer, and notices say why."""

    query: str
    answer: str | None
    sentences: list[AnswerSentenceOut]
    looked_for: LookedForOut
    nearest: list[CitationOut] = Field(
        description="when nothing answers: places about the subject that do NOT say what was looked for; no evidence"
    )
    parts: list[AnswerPartOut] = Field(description="of a question for several things, what became of each; else empty")
    notices: list[dict[str, str]]
    mode: Literal["llm", "extractive"] = Field(
        description="llm: written by a model, each sentence checked; extractive: the documents' own sentences"
    )


def _citation_out(citation: Citation) -> CitationOut:
    places = {name: getattr(citation, name) for name in ("start_offset", "end_offset", "quote", "table_header")}
    return filled(CitationOut, citation.hit, score=citation.chance, **places)


def answer_sentence_out(sentence: AnswerSentence) -> AnswerSentenceOut:
    return AnswerSentenceOut(
        text=sentence.text, score=sentence.chance, citations=[_citation_out(one) for one in sentence.citations]
    )


def answer_out(answer: Answer) -> AnswerOut:
    return AnswerOut(
        query=answer.query,
        answer=answer.text,
        sentences=[answer_sentence_out(sentence) for sentence in answer.sentences],
        looked_for=filled(LookedForOut, answer.looked_for),
        nearest=[_citation_out(one) for one in answer.nearest],
        parts=[
            AnswerPartOut(
                asks=one.asks,
                answer=in_lines(one.sentences),
                looked_for=filled(LookedForOut, one.looked_for),
            )
            for one in answer.parts
        ],
        notices=[notice.as_dict() for notice in answer.notices],
        mode=answer.mode.value,
    )
