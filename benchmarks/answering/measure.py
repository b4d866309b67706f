"""Answers with their passage there, with it taken out while the rest of its article stays, and to strangers."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from benchmarks.answering.halves import Half, gaps, questions_of
from benchmarks.retrieval.measure import share
from benchmarks.retrieval.question_sets import Question, QuestionSet, load_set
from hub.access.principals import local_operator
from knowledge.answering import Answer, AnswerSentence, answer_question, search_passages
from knowledge.answering import Question as AskedText
from knowledge.answering.beside import DOES_NOT_SAY_IT
from knowledge.search.fusion import GOOD_EVIDENCE
from knowledge.text.folding import fold_terms
from knowledge.types.search import SearchQuery

HEADER = (
    f"{'':30}{'questions':>10}{'from it':>9}{'elsewhere':>10}{'out: no':>9}{'strangers: no':>14}"
    f"{'≥.7':>6}{'right':>7}{'out ≥.7':>9}{'right':>7}{'p50 ms':>8}{'p95 ms':>8}{'warned':>8}{'out':>6}"
)

LEGEND = """
from it: answered with a sentence of the passage; elsewhere: of other passages alone
out: no: refused when the passage is taken out and the rest of its article stays
right: of the sentences scored .7 or more with the passage there, and taken out, those that have the answer
warned, out: searches that say that what they found does not answer, with the passage there and taken out"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An answer to a question of a set."""

    question: Question
    answer: Answer

    @property
    def is_refused(self) -> bool:
        return not self.answer.sentences

    @property
    def is_from_gold(self) -> bool:
        """Whether a sentence cites a passage that answers."""
        return any(_cites(sentence, self.question) for sentence in self.answer.sentences)

    @property
    def confident(self) -> list[AnswerSentence]:
        return [one for one in self.answer.sentences if (one.chance or 0.0) >= GOOD_EVIDENCE]

    def is_right(self, sentence: AnswerSentence) -> bool:
        """Return whether a sentence has one of the answers, or, where the set names none, is of a gold passage."""
        if not self.question.answers:
            return _cites(sentence, self.question)
        said = fold_terms(sentence.text)
        return any(fold_terms(answer) in said for answer in self.question.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed(Given):
    """An answer, how long it took in milliseconds, and whether a search for the question warns."""

    milliseconds: float
    is_warned: bool


def _cites(sentence: AnswerSentence, question: Question) -> bool:
    return any(citation.hit.chunk_id in question.gold for citation in sentence.citations)


class Way(StrEnum):
    """How a question meets the documents: its passage is there, was taken out, or never was."""

    THERE = "there"
    OUT = "out"
    STRANGER = "stranger"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The questions of a set, and strangers: those that others ask, or that it does not answer."""

    corpus: QuestionSet
    questions: Sequence[Question]
    strangers: Sequence[Question]

    def each(self, cache: Path) -> Iterator[tuple[Way, Question]]:
        """Load what a question is asked of, and yield it: as it is, strangers, and without the passages that answer."""
        load_set(self.corpus, cache)
        yield from ((Way.THERE, one) for one in self.questions)
        yield from ((Way.STRANGER, one) for one in self.strangers)
        for gap in gaps(self.corpus, self.questions):
            load_set(gap.corpus, cache, part_of=self.corpus)
            yield from ((Way.OUT, one) for one in gap.questions)


def asked_of(
    sets: Sequence[QuestionSet],
    half: Half,
    count: int,
    *,
    strangers: int,
    unlike: Sequence[int] = (),
    english: int | None = None,
) -> list[Asked]:
    """Draw the questions of each set, ``english`` of an English one; strangers ask what others of its language ask."""
    found = []
    for one in sets:
        others = [other for other in sets if other is not one and other.is_english is one.is_english]
        foreign = [q for other in others for q in questions_of(other, half, max(count, strangers), unlike=unlike)]
        most = english if one.is_english and english is not None else count
        own = questions_of(one, half, most, unlike=unlike)
        found.append(Asked(corpus=one, questions=own, strangers=foreign[:strangers]))
    return found


def run(sets: Sequence[QuestionSet], half: Half, count: int, strangers: int, cache: Path) -> None:
    """Print a line for each set."""
    print(f"half {half.value}, {count} questions of each set at most\n{HEADER}")
    for asked in asked_of(sets, half, count, strangers=strangers):
        print(f"{asked.corpus.name[:29]:30}{_line(measure(asked, cache))}", flush=True)
    print(LEGEND)


def measure(asked: Asked, cache: Path) -> dict[Way, list[Timed]]:
    """Ask questions of a set as it is, strangers' questions, and its own again without their passages."""
    given: dict[Way, list[Timed]] = {way: [] for way in Way}
    for way, question in asked.each(cache):
        given[way].append(_timed(question))
    return given


def ask(question: Question) -> Given:
    return Given(question=question, answer=answer_question(local_operator(), AskedText(text=question.text)))


def _timed(question: Question) -> Timed:
    started = time.perf_counter()
    answer = ask(question).answer
    spent = (time.perf_counter() - started) * 1000
    found = search_passages(local_operator(), SearchQuery(text=question.text))
    is_warned = any(notice.code == DOES_NOT_SAY_IT.code for notice in found.notices)
    return Timed(question=question, answer=answer, milliseconds=spent, is_warned=is_warned)


def _line(measured: Mapping[Way, Sequence[Timed]]) -> str:
    there, out = measured[Way.THERE], measured[Way.OUT]
    milliseconds = [one.milliseconds for one in there] or [math.nan]
    elsewhere = share(not one.is_refused and not one.is_from_gold for one in there)
    return (
        f"{len(there):>10}{share(one.is_from_gold for one in there):>9.3f}{elsewhere:>10.3f}"
        f"{share(one.is_refused for one in out):>9.3f}{share(one.is_refused for one in measured[Way.STRANGER]):>14.3f}"
        f"{_confident(there)}{_confident(out, width=9)}"
        f"{statistics.median(milliseconds):>8.1f}{np.quantile(milliseconds, 0.95):>8.1f}"
        f"{share(one.is_warned for one in there):>8.3f}{share(one.is_warned for one in out):>6.2f}"
    )


def _confident(given: Iterable[Given], width: int = 6) -> str:
    """Count the sentences of .7 or more, and give the share of those that are right."""
    right = [one.is_right(sentence) for one in given for sentence in one.confident]
    return f"{len(right):>{width}}{share(right):>7.3f}"
