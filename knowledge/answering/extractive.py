"""An answer without a language model: the sentences of the documents that answer, word for word, with their chances."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hub.llm.errors import LlmRefused
from knowledge.answering.asked import AskedThing, read_asked
from knowledge.answering.chance import chances
from knowledge.answering.marks import MarkedCell, marked_cell
from knowledge.answering.named import Named, read_named
from knowledge.answering.sentences import PlacedSentence, sentences_of, speaks_to_a_model
from knowledge.answering.signs import (
    Candidate,
    Wording,
    candidates_of,
    read_wording,
    signs_of_meaning,
    signs_without_meaning,
)
from knowledge.answering.subjects import phrases_of
from knowledge.answering.types import AnswerSentence
from knowledge.embedders import Embedder, EmbeddingError
from knowledge.index.active_embedder import EmbedderMismatch, active_embedding_set, embedder_of
from knowledge.index.analysis import NO_SYNONYMS
from knowledge.index.outside import admit_documents
from knowledge.search import calibration_for
from knowledge.text.folding import fold_terms
from knowledge.text.spellings import spelt_as_in
from knowledge.types.search import Hit

MAX_SENTENCES = 3
# Embedding one sentence takes some 5 ms with the bundled model; more than these have fewer words of the question.
MAX_EMBEDDED = 28
# What is less likely to answer is not said; what is answered and refused by it: docs/performance.md, "Answers".
LEAST_CHANCE = 0.38
# What is half as likely hardly answers by its signs alone: a model that quotes it is believed, with a warning.
LEAST_LIKELY = LEAST_CHANCE / 2
# A sentence that is much less likely to answer than the best one is not part of the answer.
LEAST_OF_BEST = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """A sentence, the chance that it answers, and the heading over it that the question names.

    ``cell`` is what a row says to a question for yes or no: it is said instead of the row, which it cites.
    """

    one: PlacedSentence
    chance: float
    heading: str
    cell: MarkedCell | None = None

    def said(self) -> AnswerSentence:
        text = str(self.cell) if self.cell else self.one.text
        return AnswerSentence(text=text, chance=self.chance, citations=(self.one.cite(chance=self.chance),))


def best_sentences(
    question: str, hits: Sequence[Hit], *, limit: int, synonyms: Mapping[str, str] = NO_SYNONYMS
) -> tuple[AnswerSentence, ...]:
    """Choose up to ``MAX_SENTENCES`` sentences of up to ``limit`` passages that answer, the likeliest first."""
    rated = rate_sentences(question, hits, synonyms=synonyms)
    return tuple(one.said() for one in choose(rated, limit=limit))


def choose(rated: Sequence[Rated], *, limit: int) -> list[Rated]:
    """Give what makes up the answer, likeliest first; nothing where no sentence is likely enough."""
    chosen: list[Rated] = []
    while len(chosen) < MAX_SENTENCES and (following := _next(rated, chosen, limit)):
        chosen.append(following)
    return sorted(chosen, key=lambda one: -one.chance)


def in_reading_order(rated: Sequence[Rated], hits: Sequence[Hit]) -> list[Hit]:
    """Order the passages of a search for a language model: first those found early and with a likely sentence.

    No chance leaves one out: whether a passage answers is for the model to say.
    """
    found = [hit.chunk_id for hit in hits]
    likely = list(dict.fromkeys(one.one.hit.chunk_id for one in rated))
    ranks = [{name: rank for rank, name in enumerate(order)} for order in (found, likely)]
    return sorted(hits, key=lambda hit: sum(ranking.get(hit.chunk_id, len(hits)) for ranking in ranks))


def rate_sentences(
    question: str,
    hits: Sequence[Hit],
    *,
    synonyms: Mapping[str, str] = NO_SYNONYMS,
    with_meaning: bool = True,
    most: int = MAX_EMBEDDED,
) -> list[Rated]:
    """Tell of the sentences of passages that are about a question how likely each answers it, likeliest first.

    Sentences that read like an instruction to a model, and those about another thing of the kind whose code is asked
    for, are left out. Without the embedding model, or ``with_meaning``, the chances rest on words alone. ``most``
    sentences are looked at closely, those with the most of the question's words.
    """
    material = read_material(question, hits, synonyms=synonyms, most=most)
    if not material.candidates:
        return []
    names, rows = material.signs(with_meaning=with_meaning)
    found = [
        Rated(
            one=one.one,
            chance=float(chance),
            heading=material.named.heading_named(one.one),
            cell=marked_cell(material.question, material.asked, one.one),
        )
        for one, chance in zip(material.candidates, chances(names, rows), strict=True)
    ]
    return sorted(found, key=lambda one: -one.chance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A question, read and spelt as the passages spell it, and the sentences that are looked at more closely."""

    question: str
    asked: AskedThing
    named: Named
    wording: Wording
    candidates: Sequence[Candidate]

    def signs(self, *, with_meaning: bool = True) -> tuple[list[str], NDArray[np.float64]]:
        """The names of signs, and a row of them for each candidate."""
        names, rows = signs_without_meaning(self.question, self.asked, self.named, self.wording, self.candidates)
        texts = [_read_with(one.one) for one in self.candidates]
        documents = {one.one.hit.document_id for one in self.candidates}
        nearness = _nearness(self.question, documents, texts) if with_meaning else np.full(len(texts), np.nan)
        more, columns = signs_of_meaning(nearness, names, rows, [one.one.hit.chunk_id for one in self.candidates])
        return [*names, *more], np.concatenate([rows, columns], axis=1)


def read_material(
    question: str, hits: Sequence[Hit], *, synonyms: Mapping[str, str] = NO_SYNONYMS, most: int = MAX_EMBEDDED
) -> Material:
    """Read a question, and choose the sentences that have the most of its words; the first of equals."""
    question = _as_passages_write(question, hits)
    named = read_named(question)
    sentences = _about(named, _different([one for hit in hits for one in sentences_of(hit)]))
    candidates = candidates_of(hits, sentences)
    wording = read_wording(question, candidates, synonyms=synonyms)
    ordered = sorted(candidates, key=lambda one: -wording.plain_share(one))[:most]
    return Material(question=question, asked=read_asked(question), named=named, wording=wording, candidates=ordered)


def _as_passages_write(question: str, hits: Sequence[Hit]) -> str:
    """Write what a question names as its passages do: 1人 for 一人, and 取消 for 取り消し, where they have no other."""
    words = [part for phrase in phrases_of(question) for part in phrase.parts]
    texts = [fold_terms("\n".join([hit.title, *hit.section_path, hit.content])) for hit in hits]
    return spelt_as_in(question, words, texts)


def _read_with(one: PlacedSentence) -> str:
    return "\n".join(filter(None, [one.heading, one.header, one.text]))


def _different(candidates: Sequence[PlacedSentence]) -> list[PlacedSentence]:
    """Leave out repetitions; of sentences that overlapping passages share, the first stays."""
    seen: dict[str, PlacedSentence] = {}
    for one in candidates:
        seen.setdefault(fold_terms(one.text), one)
    return [one for one in seen.values() if not speaks_to_a_model(one.text)]


def _about(named: Named, candidates: Sequence[PlacedSentence]) -> list[PlacedSentence]:
    """Leave out what is about other things than those whose codes are asked for, where something is about these."""
    if not any(named.has_code(one) for one in candidates):
        return list(candidates)
    return [one for one in candidates if not named.is_beside(one) and not (one.is_label and named.has_code(one))]


def _next(rated: Sequence[Rated], chosen: Sequence[Rated], limit: int) -> Rated | None:
    """Give what belongs to the answer next: first what is under headings that the question names, each in turn."""
    likely = [one for one in rated if one.chance >= LEAST_CHANCE]
    if not chosen:
        return next(iter(likely), None)
    passages = {one.one.hit.chunk_id for one in chosen}
    headings = [one.heading for one in chosen]
    left = [
        one
        for one in likely
        if one not in chosen
        and (len(passages) < limit or one.one.hit.chunk_id in passages)
        and not any(_is_another_row(one, row) for row in chosen)
    ]
    named = [one for one in left if one.heading]
    if named:
        return min(named, key=lambda one: headings.count(one.heading))
    return next((one for one in left if one.chance >= LEAST_OF_BEST * chosen[0].chance), None)


def _is_another_row(one: Rated, row: Rated) -> bool:
    """Return whether a row of the same table is less likely: it is about something else."""
    is_same = (one.one.hit.document_id, one.one.header) == (row.one.hit.document_id, row.one.header)
    return is_same and bool(one.one.header) and one.chance < row.chance


def _nearness(question: str, documents: Collection[str], texts: Sequence[str]) -> NDArray[np.float64]:
    """How near texts are in meaning: 0 for those that have nothing in common, 1 for the same; NaN without the model.

    Where the model's cosines begin is known for models that were measured.
    """
    active = active_embedding_set()
    try:
        embedder = embedder_of(active)
        asked = embedder.embed_query(question)  # first, since it is given up sooner where a server does not answer
        admit_documents(embedder, documents)
        cosines = embedder.embed_passages([_fitting(embedder, one) for one in texts]) @ asked
    except (EmbeddingError, EmbedderMismatch, LlmRefused):
        return np.full(len(texts), np.nan)  # the search has said already that its vector leg is down
    return calibration_for(backend=active.backend, model=active.model).cosine_range.place(cosines.astype(np.float64))


def _fitting(embedder: Embedder, text: str) -> str:
    """Return as much of a text's beginning as the model reads at once."""
    while embedder.count_tokens(text) > embedder.max_tokens:
        text = text[: len(text) * 4 // 5]
    return text
