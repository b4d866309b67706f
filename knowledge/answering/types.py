"""A question and its answer: plain data, and what an answer says to people about itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from hub.core.texts import Text
from knowledge.types.notices import Notice, notice_of
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


EXTRACTIVE = notice_of("answering", "extractive_answer")
NOT_IN_DOCUMENTS = notice_of("answering", "not_in_documents")
SENTENCES_DROPPED = notice_of("answering", "sentences_dropped")
INSTRUCTION_IN_DOCUMENT = notice_of("answering", "instruction_in_document")
CLASSIFIED_LEFT_OUT = notice_of("answering", "classified_left_out")
ANSWER_CUT = notice_of("answering", "answer_cut")


def llm_failed(code: str, reason: Text) -> Notice:
    return notice_of("answering", "llm_failed", code=code, reason=reason)
