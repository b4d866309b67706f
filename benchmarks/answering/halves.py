"""Question sets for answers: two halves by article, one to build on and one to report, and corpora with gaps."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from benchmarks.retrieval.question_sets import Question, QuestionSet

SEED = 20261124


class Half(StrEnum):
    """What is chosen and fitted on ``BUILD`` is reported on ``HELD``; no article has questions in both."""

    BUILD = "build"
    HELD = "held"


def half_of(title: str) -> Half:
    """Return the half that an article's questions belong to, by its title alone, so that no run can move it."""
    return Half.BUILD if hashlib.sha256(title.encode()).digest()[0] % 2 else Half.HELD


def questions_of(question_set: QuestionSet, half: Half, count: int, *, unlike: Sequence[int] = ()) -> list[Question]:
    """Draw up to ``count`` questions of one half at random, always the same ones.

    With ``unlike`` none that a draw of so many, or of fewer, has had; the second number is of a draw that was unlike
    the first, and so on.
    """
    titles = {paragraph.id: paragraph.title for paragraph in question_set.corpus}
    left = [one for one in question_set.questions if all(half_of(titles[name]) is half for name in one.gold)]
    for most in unlike:
        drawn = drawn_of(left, most)
        left = [one for one in left if one.id not in drawn]
    return random.Random(SEED).sample(left, min(count, len(left)))


def drawn_of(questions: Sequence[Question], most: int) -> set[str]:
    """Return the ids of the questions that a draw of up to ``most`` has had."""
    draws = (random.Random(SEED).sample(questions, number) for number in range(1, min(most, len(questions)) + 1))
    return {one.id for draw in draws for one in draw}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A corpus without the passages that answer ``questions``; the rest of their articles stays."""

    corpus: QuestionSet
    questions: list[Question]


def gaps(question_set: QuestionSet, questions: Sequence[Question]) -> Iterator[Gap]:
    """Share questions out so that no article lacks the passages of two questions at once."""
    titles = {paragraph.id: paragraph.title for paragraph in question_set.corpus}
    left = list(questions)
    while left:
        taken: list[Question] = []
        used: set[str] = set()
        for question in left:
            about = {titles[name] for name in question.gold}
            if used.isdisjoint(about):
                taken.append(question)
                used |= about
        left = [question for question in left if question not in taken]
        out = frozenset().union(*(question.gold for question in taken))
        kept = [paragraph for paragraph in question_set.corpus if paragraph.id not in out]
        yield Gap(corpus=replace(question_set, corpus=kept), questions=taken)


def with_answers(question_set: QuestionSet, folder: Path) -> QuestionSet:
    """Add the answers that files in SQuAD's format in a folder and below give to the same questions."""
    known = _answers_in(folder)
    return replace(
        question_set,
        questions=[
            replace(one, answers=one.answers or known.get(one.text, frozenset())) for one in question_set.questions
        ],
    )


def _answers_in(folder: Path) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.json")):
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for one in paragraph["qas"]:
                    answers = found.setdefault(one["question"].strip(), set())
                    answers.update(answer["text"] for answer in one["answers"])
    return {question: frozenset(answers) for question, answers in found.items()}
