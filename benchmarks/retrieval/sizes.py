"""How well 0.7 tells answers from strangers in parts of the question sets, as small as a hub's first documents."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.retrieval.measure import ask, best_score, gold_score, share
from benchmarks.retrieval.question_sets import Question, QuestionSet, load_set, read_sets
from knowledge.search.fusion import GOOD_EVIDENCE
from knowledge.types.search import SearchMode

# Passages of a part, and how many parts of that size are drawn.
SIZES = {24: 6, 57: 4, 120: 3, 400: 2}
MODES = (SearchMode.HYBRID, SearchMode.LEXICAL)
HEADER = f"{'passages':>10}{'mode':>10}{'answers':>9}{'gold≥.7':>9}{'others':>8}{'<.7':>7}{'left out':>10}{'<.7':>7}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some articles of a set, and questions about those that were left out."""

    whole: QuestionSet
    kept: QuestionSet
    left_out: list[Question]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The scores of right passages, and the best ones that questions without an answer got, in one mode."""

    gold: list[float]
    others: list[float]
    left_out: list[float]


def run(folder: Path, count: int, cache: Path) -> None:
    """Measure parts of every set: with its questions, those of other sets, and those on articles left out."""
    sets = read_sets(folder)
    for question_set in sets:
        others = [q for other in sets if other is not question_set for q in other.sample(count)]
        print(f"\n{question_set.name}\n{HEADER}")
        for size, times in SIZES.items():
            parts = [_part(question_set, size, seed) for seed in range(times)]
            found = [_measure(part, others, count, cache, seed) for seed, part in enumerate(parts)]
            for mode in MODES:
                _print_row(size, mode, [one[mode] for one in found])
    print("\nothers: questions of other sets; left out: questions on articles of the set that the part lacks")


def _part(question_set: QuestionSet, size: int, seed: int) -> Part:
    """Take articles at random until there are ``size`` passages; the last one is cut short."""
    titles = sorted({paragraph.title for paragraph in question_set.corpus})
    random.Random(seed * 7 + size).shuffle(titles)
    place = {title: number for number, title in enumerate(titles)}
    corpus = sorted(question_set.corpus, key=lambda paragraph: place[paragraph.title])[:size]
    kept = {paragraph.id for paragraph in corpus}
    about = {paragraph.title for paragraph in corpus}
    foreign = {paragraph.id for paragraph in question_set.corpus if paragraph.title not in about}
    return Part(
        whole=question_set,
        kept=QuestionSet(
            name=f"{question_set.name} {size}-{seed}",
            corpus=corpus,
            questions=[question for question in question_set.questions if question.gold <= kept],
        ),
        left_out=[question for question in question_set.questions if question.gold <= foreign],
    )


def _measure(part: Part, others: Sequence[Question], count: int, cache: Path, seed: int) -> dict[SearchMode, Scores]:
    load_set(part.kept, cache, part_of=part.whole)
    own = part.kept.sample(count)
    left_out = replace(part.kept, questions=part.left_out).sample(count)
    foreign = random.Random(seed).sample(list(others), min(count, len(others)))
    return {
        mode: Scores(
            gold=list(_of_answers(own, mode)),
            others=[best_score(ask(question, mode)) for question in foreign],
            left_out=[best_score(ask(question, mode)) for question in left_out],
        )
        for mode in MODES
    }


def _of_answers(questions: Sequence[Question], mode: SearchMode) -> Iterator[float]:
    for question in questions:
        score = gold_score(ask(question, mode), question)
        if score is not None:
            yield score


def _print_row(size: int, mode: SearchMode, found: Sequence[Scores]) -> None:
    gold = [score for one in found for score in one.gold]
    others = [score for one in found for score in one.others]
    left_out = [score for one in found for score in one.left_out]
    print(
        f"{size:>10}{mode.value:>10}{len(gold):>9}{share(score >= GOOD_EVIDENCE for score in gold):>9.3f}"
        f"{len(others):>8}{share(score < GOOD_EVIDENCE for score in others):>7.3f}"
        f"{len(left_out):>10}{share(score < GOOD_EVIDENCE for score in left_out):>7.3f}",
        flush=True,
    )
