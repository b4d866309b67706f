"""A question and its answer: plain data, and what an answer says to people about itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from hub.core.texts import Text
from knowledge.answering.asked import Wanted
from knowledge.types.notices import Notice, notice_of, text_of
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
    ``chance`` is how likely the quote answers the question by its signs, 0 to 1; None where nothing rates it.
    """

    hit: Hit
    quote: str
    start_offset: int
    end_offset: int
    table_header: str = ""
    chance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSentence:
    """``chance`` is how likely the sentence answers, 0 to 1; None where a model wrote it, which nothing rates.

    ``part`` is the place, from 0, of the part of the question that a model answers with it; None without a model.
    """

    text: str
    citations: tuple[Citation, ...]
    chance: float | None = None
    part: int | None = None


def in_lines(sentences: Sequence[AnswerSentence]) -> str | None:
    """Put sentences into one text, a line for each, rows of a table below the row that names its columns."""
    lines: list[str] = []
    header = ""
    for sentence in sentences:
        named = next((one.table_header for one in sentence.citations if one.quote == sentence.text), "")
        if named and named != header:
            lines.append(named)
        header = named
        lines.append(sentence.text)
    return "\n".join(lines) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedFor:
    """What a question asks for: its kind, and the thing in the question's words, empty where it names none.

    ``found`` are the question's words that the cited passages have, or the nearest ones where nothing answers,
    ``missing`` those that none of them has.
    """

    kind: Wanted
    thing: str
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """What became of one part of a question that asks for several things; fields as those of the whole answer."""

    asks: str
    looked_for: LookedFor
    sentences: tuple[AnswerSentence, ...] = ()
    nearest: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """``sentences`` is empty when the documents do not answer; ``notices`` say why, and what else to know.

    ``nearest`` are the places that are about what is not answered and do not say it, the nearest first. ``parts`` are
    there for a question of several parts; ``looked_for`` is then of the first one without an answer.
    """

    query: str
    mode: AnswerMode
    looked_for: LookedFor
    sentences: tuple[AnswerSentence, ...] = ()
    nearest: tuple[Citation, ...] = ()
    parts: tuple[AnswerPart, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def text(self) -> str | None:
        """The answer as one text, a line for each sentence; None when there is none."""
        return in_lines(self.sentences)


EXTRACTIVE = notice_of("answering", "extractive_answer")
BESIDE_THE_QUESTION = notice_of("answering", "beside_the_question")
UNLIKELY_BY_SIGNS = notice_of("answering", "unlikely_by_signs")
WORDS_OF_THE_DOCUMENT = notice_of("answering", "words_of_the_document")
SENTENCES_DROPPED = notice_of("answering", "sentences_dropped")
INSTRUCTION_IN_DOCUMENT = notice_of("answering", "instruction_in_document")
CLASSIFIED_LEFT_OUT = notice_of("answering", "classified_left_out")
ANSWER_CUT = notice_of("answering", "answer_cut")


def not_in_documents(looked_for: LookedFor) -> Notice:
    """Say that the documents do not answer, and what was looked for in them."""
    if not looked_for.thing:
        return notice_of("answering", "not_in_documents")
    kind = text_of("asked", looked_for.kind.value)
    return notice_of("answering", "not_found", code="not_in_documents", thing=looked_for.thing, kind=kind)


def llm_failed(code: str, reason: Text) -> Notice:
    return notice_of("answering", "llm_failed", code=code, reason=reason)
