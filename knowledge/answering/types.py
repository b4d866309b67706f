"""A question and its answer: plain data, and what an answer says to people about itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from hub.core.texts import Text
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


EXTRACTIVE = Notice(
    code="extractive_answer",
    ja="言語モデルを使わず、文書の文をそのまま抜き出した回答です。",
    en="No language model wrote this answer: its sentences are the documents' own.",
)
NOT_IN_DOCUMENTS = Notice(
    code="not_in_documents",
    ja="この質問への答えは、検索できる文書の中に見つかりませんでした。",
    en="The documents that may be searched do not answer this question.",
)
SENTENCES_DROPPED = Notice(
    code="sentences_dropped",
    ja="言語モデルの文のうち、引用された箇所で裏付けられないものを除きました。",
    en="Sentences of the language model were left out: the places they cite do not bear them out.",
)
INSTRUCTION_IN_DOCUMENT = Notice(
    code="instruction_in_document",
    ja="文書の中に、読み手のモデルへの指示と読める文があります。回答の根拠には使いませんでした。",
    en="A document holds text that reads like an instruction to a model; no sentence stands on it.",
)
CLASSIFIED_LEFT_OUT = Notice(
    code="classified_left_out",
    ja="機密区分が上限（LLM_MAX_CLASSIFICATION、学習に使わないことの確認がなければ "
    "LLM_UNCONFIRMED_CLASSIFICATION）を超える文書は、外部の言語モデルに渡しませんでした。",
    en="Documents classified above LLM_MAX_CLASSIFICATION, or LLM_UNCONFIRMED_CLASSIFICATION without a confirmation "
    "that the provider does not train on them, were not given to the language model outside.",
)
ANSWER_CUT = Notice(
    code="answer_cut",
    ja="言語モデルの回答が途中で切れました。届いた文だけを示します。",
    en="The language model broke off; these are the sentences that came.",
)


def llm_failed(code: str, reason: Text) -> Notice:
    return Notice(
        code=code,
        ja=f"言語モデルの回答を使えないため、文書の文を抜き出しました。{reason.ja}",
        en=f"The language model gave no usable answer, so sentences were taken from the documents. {reason.en}",
    )
