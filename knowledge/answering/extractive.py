"""An answer without a language model: the sentences of the documents that answer best, word for word."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hub.llm.errors import LlmRefused
from knowledge.answering.sentences import (
    PlacedSentence,
    Terms,
    numbers_of,
    sentences_of,
    share_of,
    speaks_to_a_model,
    terms_of,
)
from knowledge.answering.types import AnswerSentence
from knowledge.embedders import Embedder, EmbeddingError
from knowledge.index.active_embedder import EmbedderMismatch, active_embedding_set, embedder_of
from knowledge.index.outside import admit_documents
from knowledge.search import calibration_for
from knowledge.text.codes import kind_of, names_in
from knowledge.text.dates import find_dates
from knowledge.text.folding import fold_terms
from knowledge.text.outline import unnumbered_title
from knowledge.text.tables import cells_of
from knowledge.types.search import Hit

_NUMBER = re.compile(
    r"何\s*(?:[秒分時日週月年件人名個回台円割点度桁部本枚校社通箱冊%]|か[所月]|文字|ページ|パーセント)|いつ(?!も)|いく[つら]"
    r"|ど[のれ](?:[くぐ]らい|ほど|だけ|程度)|\b(?:when|how (?:many|much|long|often|large|fast|old))\b"
)
_TIME = re.compile(r"いつ(?!も)|何[時日月年曜](?!間)|\bwhen\b|日時|期[日限]")
_CLOCK = re.compile(r"[0-9](?:時(?!間)|:[0-9]{2})|[0-9][月日](?!間)|[0-9](?:営業日|[日週月年]間?)?(?:以内|前|後)")
_MEANING = re.compile(
    r"\s*+[「『\"]?(?P<ja>[^「」『』\"。、]{1,40}?)[」』\"]?(?:とは|って何|の(?:意味|定義|読み方))"
    r"|what (?:is|are|does) (?:an? |the )?(?P<en>.{1,40}?)(?: mean| stand for)?\s*\??\Z"
)
_DEFINES = re.compile(r"(?:をいう|を指す|を意味する|のこと(?:である|です)?|means|stands for)[^。]{0,3}\Z")
_LEAST_HEADING = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, read once for all sentences. ``text`` is folded, ``meaning_of`` the word it asks the meaning of."""

    terms: Terms
    codes: frozenset[str]
    text: str
    meaning_of: str
    wants_number: bool
    wants_time: bool

    def has_number(self, one: PlacedSentence) -> bool:
        """Return whether a sentence gives the number that is asked for: who asks when, a time and no other number."""
        if self.wants_time:
            return _names_time(one.text)
        return self.wants_number and bool(numbers_of(one.text))

    def heading_named(self, one: PlacedSentence) -> str:
        """Return what a sentence is under if the question names it, by its words or by its code; else nothing."""
        title = unnumbered_title(one.hit.section_path[-1]) if one.hit.section_path else ""
        heading = fold_terms(title).strip("()「」【】 ")
        if len(heading) >= _LEAST_HEADING and heading in self.text:
            return heading
        named = self.codes.intersection(names_in(fold_terms(f"{heading}\n{one.label}")))
        return "" if one.is_label else "".join(sorted(named))

    def has_code(self, one: PlacedSentence) -> bool:
        """Return whether a sentence, or the label above it, has one of the codes."""
        return not self.codes.isdisjoint(names_in(fold_terms(f"{one.text}\n{one.label}")))

    def is_beside(self, one: PlacedSentence) -> bool:
        """Return whether a sentence is about other codes of these kinds: JB031 where JB032 is asked for."""
        kinds = {kind_of(code) for code in self.codes}
        found = set(names_in(fold_terms(one.text))) or set(names_in(fold_terms(one.label)))
        return found.isdisjoint(self.codes) and any(kind_of(code) in kinds for code in found)

    def is_explained_by(self, one: PlacedSentence) -> bool:
        """Return whether a sentence says what the word means that is asked for."""
        if not self.meaning_of:
            return False
        text = fold_terms(one.text)
        if text.startswith("|"):
            return cells_of(text)[0] == self.meaning_of
        is_about = re.match(rf"[「『\"]?{re.escape(self.meaning_of)}[」』\"]?(?:\([^)]*\))?(?:とは|[:：]| means)", text)
        return is_about is not None or (self.meaning_of in text and _DEFINES.search(text) is not None)


def read_question(question: str) -> Asked:
    """Return what a question asks for.

    >>> asked = read_question("JB032の処理時間上限は何分か")
    >>> asked.wants_number, sorted(asked.codes), read_question("調定とは何ですか").meaning_of
    (True, ['jb032'], '調定')
    """
    folded = fold_terms(question)
    meaning = _MEANING.match(folded)
    return Asked(
        terms=terms_of(question),
        codes=frozenset(names_in(folded)),
        text=folded,
        meaning_of=(meaning["ja"] or meaning["en"] or "").strip() if meaning else "",
        wants_number=_NUMBER.search(folded) is not None,
        wants_time=_TIME.search(folded) is not None,
    )


def _names_time(text: str) -> bool:
    folded = fold_terms(text)
    return bool(find_dates(folded)) or _CLOCK.search(folded) is not None


MAX_SENTENCES = 3
# Embedding one sentence takes some 5 ms with the bundled model; more than these have no word of the question.
MAX_EMBEDDED = 32
# A sentence that fits the question much worse than the best one is not part of the answer.
LEAST_OF_BEST = 0.75
_FOR_WORDS, _FOR_MEANING, _FOR_PASSAGE = 0.4, 0.4, 0.2
# One under a heading that the question names may fit the whole question less.
LEAST_OF_BEST_NAMED = 0.5
# Half of the words count wherever they are: in the sentence, its headings or the header of its table.
_OWN = 0.5
# Who asks when or how many is answered by a number, which no word of the question tells; who asks for a thing by its
# code, by its heading, or for what a word means, by what names it.
_FOR_NUMBER, _FOR_CODE, _FOR_NAMED, _FOR_EXPLAINING = 0.2, 0.2, 0.2, 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rated:
    """A sentence, the share of the question's words that it has, the heading over it that the question names."""

    one: PlacedSentence
    own: float
    heading: str
    score: float


def best_sentences(question: str, hits: Sequence[Hit], *, limit: int) -> tuple[AnswerSentence, ...]:
    """Choose up to ``MAX_SENTENCES`` sentences of up to ``limit`` passages, best first, with verbatim citations.

    Ranked by the words of the question that they, and what is above them, have, by their similarity in meaning,
    by their passage's score, and by whether they give what is asked for: a number, a thing's code, a meaning. What is
    about another thing of the kind whose code is asked for is left out. Without the embedding model similarity does
    not count.
    """
    asked = read_question(question)
    candidates = _about(asked, _different([one for hit in hits for one in sentences_of(hit)]))
    chosen: list[_Rated] = []
    rated = _rate(question, asked, candidates)
    while len(chosen) < MAX_SENTENCES and (following := _next(rated, chosen, limit)):
        chosen.append(following)
    return tuple(AnswerSentence(text=rated.one.text, citations=(rated.one.cite(),)) for rated in chosen)


def _different(candidates: Sequence[PlacedSentence]) -> list[PlacedSentence]:
    """Leave out repetitions; of sentences that overlapping passages share, the first stays."""
    seen: dict[str, PlacedSentence] = {}
    for one in candidates:
        seen.setdefault(fold_terms(one.text), one)
    return [one for one in seen.values() if not speaks_to_a_model(one.text)]


def _about(asked: Asked, candidates: Sequence[PlacedSentence]) -> list[PlacedSentence]:
    """Leave out what is about other things than those whose codes are asked for, where something is about these."""
    if not any(asked.has_code(one) for one in candidates):
        return list(candidates)
    return [one for one in candidates if not asked.is_beside(one) and not (one.is_label and asked.has_code(one))]


def _rate(question: str, asked: Asked, candidates: Sequence[PlacedSentence]) -> list[_Rated]:
    """Rate the candidates that have the most of what can be told without the model, best first."""
    rated = sorted((_without_meaning(asked, one) for one in candidates), key=lambda rated: -rated.score)[:MAX_EMBEDDED]
    meaning = _similarities(
        question,
        {rated.one.hit.document_id for rated in rated},
        [f"{rated.one.header}\n{rated.one.text}".strip() for rated in rated],
    )
    rated = [replace(one, score=one.score + _FOR_MEANING * share) for one, share in zip(rated, meaning, strict=True)]
    return sorted(rated, key=lambda one: -one.score)


def _without_meaning(asked: Asked, one: PlacedSentence) -> _Rated:
    own, around = terms_of(one.text), terms_of(one.around)
    share, heading = share_of(asked.terms, own), asked.heading_named(one)
    words = _OWN * share + (1 - _OWN) * share_of(asked.terms, own, around)
    given = _FOR_NUMBER * asked.has_number(one) + _FOR_CODE * asked.has_code(one) + _FOR_NAMED * bool(heading)
    return _Rated(
        one=one,
        own=share,
        heading=heading,
        score=_FOR_WORDS * words
        + _FOR_PASSAGE * (one.hit.score or 0.0)
        + given
        + _FOR_EXPLAINING * asked.is_explained_by(one),
    )


def _next(rated: Sequence[_Rated], chosen: Sequence[_Rated], limit: int) -> _Rated | None:
    """Give what belongs to the answer next: first what is under headings that the question names, each in turn."""
    if not chosen:
        return next(iter(rated), None)
    passages = {one.one.hit.chunk_id for one in chosen}
    headings = [one.heading for one in chosen]
    left = [
        one
        for one in rated
        if one not in chosen
        and (len(passages) < limit or one.one.hit.chunk_id in passages)
        and not any(_is_another_row(one, row) for row in chosen)
    ]
    best = chosen[0].score
    named = [one for one in left if one.heading and one.score >= LEAST_OF_BEST_NAMED * best]
    if named:
        return min(named, key=lambda one: headings.count(one.heading))
    return next((one for one in left if one.score >= LEAST_OF_BEST * best), None)


def _is_another_row(one: _Rated, row: _Rated) -> bool:
    """Return whether a row of the same table has less of the question: it is about something else."""
    is_same = (one.one.hit.document_id, one.one.header) == (row.one.hit.document_id, row.one.header)
    return is_same and bool(one.one.header) and one.own < row.own


def _similarities(question: str, documents: Collection[str], texts: Sequence[str]) -> list[float]:
    """Similarity in meaning: 1 for the most similar text, for others a share, 0 for those that have nothing in common.

    Where the model's cosines begin is known for models that were measured.
    """
    active = active_embedding_set()
    try:
        embedder = embedder_of(active)
        asked = embedder.embed_query(question)  # first, since it is given up sooner where a server does not answer
        admit_documents(embedder, documents)
        cosines = embedder.embed_passages([_fitting(embedder, one) for one in texts]) @ asked if texts else np.empty(0)
    except (EmbeddingError, EmbedderMismatch, LlmRefused):
        return [0.0] * len(texts)  # the search has said already that its vector leg is down, or has no vectors of them
    nearness = calibration_for(backend=active.backend, model=active.model).cosine_range.place(
        cosines.astype(np.float64)
    )
    best = float(nearness.max(initial=0.0))
    return [max(float(one) / best, 0.0) if best else 1.0 for one in nearness]


def _fitting(embedder: Embedder, text: str) -> str:
    """Return as much of a text's beginning as the model reads at once."""
    while embedder.count_tokens(text) > embedder.max_tokens:
        text = text[: len(text) * 4 // 5]
    return text
