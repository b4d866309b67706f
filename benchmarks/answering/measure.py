"""Answers with their passage there, with it taken out while the rest of its article stays, and to strangers."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.answering.halves import Half, gaps, questions_of
from benchmarks.retrieval.measure import share
from benchmarks.retrieval.question_sets import Question, QuestionSet, load_set
from hub.access.principals import local_operator
from knowledge.answering import Answer, AnswerSentence, answer_question, search_passages
from knowledge.answering import Question as Asked
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
    """An answer to a question of a set, how long it took in milliseconds, and whether a search for it warns."""

    question: Question
    answer: Answer
    milliseconds: float
    is_warned: bool

    @property
    def is_refused(self) -> bool:
        return not self.answer.sentences

    @property
    def is_from_gold(self) -> bool:
        """Whether a sentence cites a passage that answers."""
        return any(_cites(sentence, self.question) for sentence in self.answer.sentences)

    @property
    def confident(self) -> list[AnswerSentence]:
        return [one for one in self.answer.sentences if one.chance >= GOOD_EVIDENCE]

    def is_right(self, sentence: AnswerSentence) -> bool:
        """Return whether a sentence has one of the answers, or, where the set names none, is of a gold passage."""
        if not self.question.answers:
            return _cites(sentence, self.question)
        said = fold_terms(sentence.text)
        return any(fold_terms(answer) in said for answer in self.question.answers)


def _cites(sentence: AnswerSentence, question: Question) -> bool:
    return any(citation.hit.chunk_id in question.gold for citation in sentence.citations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one half of a set got: with the passages there, without them, and the questions of others."""

    there: list[Given]
    out: list[Given]
    strangers: list[Given]


def run(sets: Sequence[QuestionSet], half: Half, count: int, cache: Path) -> None:
    """Print a line for each set; strangers ask what the other sets of its language ask."""
    print(f"half {half.value}, {count} questions of each set at most\n{HEADER}")
    for question_set in sets:
        others = [other for other in sets if other is not question_set and other.is_english is question_set.is_english]
        strangers = [q for other in others for q in questions_of(other, half, count)]
        measured = measure(question_set, questions_of(question_set, half, count), strangers[:count], cache)
        print(f"{question_set.name[:29]:30}{_line(measured)}", flush=True)
    print(LEGEND)


def measure(
    question_set: QuestionSet, questions: Sequence[Question], strangers: Sequence[Question], cache: Path
) -> Measured:
    """Ask questions of a set as it is, strangers' questions, and its own again without their passages."""
    load_set(question_set, cache)
    there = [ask(one) for one in questions]
    foreign = [ask(one) for one in strangers]
    out = []
    for gap in gaps(question_set, questions):
        load_set(gap.corpus, cache, part_of=question_set)
        out += [ask(one) for one in gap.questions]
    return Measured(there=there, out=out, strangers=foreign)


def ask(question: Question) -> Given:
    started = time.perf_counter()
    answer = answer_question(local_operator(), Asked(text=question.text))
    spent = (time.perf_counter() - started) * 1000
    found = search_passages(local_operator(), SearchQuery(text=question.text))
    is_warned = any(notice.code == DOES_NOT_SAY_IT.code for notice in found.notices)
    return Given(question=question, answer=answer, milliseconds=spent, is_warned=is_warned)


def _line(measured: Measured) -> str:
    there, out = measured.there, measured.out
    milliseconds = [one.milliseconds for one in there] or [math.nan]
    elsewhere = share(not one.is_refused and not one.is_from_gold for one in there)
    return (
        f"{len(there):>10}{share(one.is_from_gold for one in there):>9.3f}{elsewhere:>10.3f}"
        f"{share(one.is_refused for one in out):>9.3f}{share(one.is_refused for one in measured.strangers):>14.3f}"
        f"{_confident(there)}{_confident(out, width=9)}"
        f"{statistics.median(milliseconds):>8.1f}{np.quantile(milliseconds, 0.95):>8.1f}"
        f"{share(one.is_warned for one in there):>8.3f}{share(one.is_warned for one in out):>6.2f}"
    )


def _confident(given: Iterable[Given], width: int = 6) -> str:
    """Count the sentences of .7 or more, and give the share of those that are right."""
    right = [one.is_right(sentence) for one in given for sentence in one.confident]
    return f"{len(right):>{width}}{share(right):>7.3f}"
