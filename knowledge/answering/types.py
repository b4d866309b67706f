"""A question and its answer: plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from knowledge.types.notices import Notice
from knowledge.types.search import Hit, SearchFilter


class AnswerMode(StrEnum):
    """Who wrote the sentences: a language model, or the documents' own authors."""

    LLM = "llm"
    EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``limit`` is the number of passages that an answer may stand on."""

    text: str
    filter: SearchFilter = field(default_factory=SearchFilter)
    limit: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A place that a sentence stands on: ``quote`` is the version's Markdown at ``[start_offset, end_offset)``.

    ``hit`` is the passage around it. For a row of a table ``table_header`` is the row that names its columns.
    """

    hit: Hit
    quote: str
    start_offset: int
    end_offset: int
    table_header: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSentence:
    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """``sentences`` is empty when the documents do not answer; ``notices`` say why, and what else to know."""

    query: str
    mode: AnswerMode
    sentences: tuple[AnswerSentence, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def text(self) -> str | None:
        """The answer as one text, a line for each sentence; None when there is none."""
        return "\n".join(sentence.text for sentence in self.sentences) or None
