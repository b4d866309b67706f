"""Questions by hand about real and shipped documents: what each says, and what it doesn't.

Those of ``data/answers.json`` were read while answers were built; nothing was chosen by ``data/answers_held.json``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.answering.files import passages_of, without_answers
from benchmarks.answering.halves import SEED, Half
from benchmarks.answering.measure import Asked
from benchmarks.retrieval.measure import share
from benchmarks.retrieval.question_sets import Paragraph, Question, QuestionSet, load_set
from hub.access.principals import local_operator
from knowledge.answering import Answer, answer_question
from knowledge.answering import Question as AskedText
from knowledge.answering.extractive import choose, rate_sentences
from knowledge.search import search
from knowledge.text.folding import fold_terms
from knowledge.types.search import SearchQuery

DATA = Path(__file__).resolve().parent.parent / "data"
SHIPPED = Path(__file__).resolve().parent.parent.parent / "knowledge" / "data"
FILES = {Half.BUILD: DATA / "answers.json", Half.HELD: DATA / "answers_held.json"}
HEADER = f"{'':34}{'asked':>6}{'right':>7}{'first':>7}{'out: no':>9}{'unsaid':>8}{'no':>7}{'≥.7':>6}{'right':>7}"
LEGEND = """
right: a sentence has what was looked for; first: the first one has; out: no: refused once that is taken out
unsaid, no: questions about the document that it does not answer, and how many are refused"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question about a document with a text of the sentence that answers it, empty where none does."""

    asks: str
    has: str


def asked_of(data: Path, half: Half, count: int, strangers: int, *, unlike: int = 0) -> list[Asked]:
    """Draw questions by hand about each document: such as it answers, and as strangers such as it doesn't.

    With ``unlike`` none that a draw of so many has had.
    """
    found = []
    for name, cases, passages in _documents(data, half):
        answered = [
            Question(
                id=case.asks,
                text=case.asks,
                gold=frozenset(one.id for one in passages if case.has in one.text),
                answers=frozenset({case.has}),
            )
            for case in cases
            if case.has
        ]
        own = [one for one in answered if one.gold]
        unsaid = [Question(id=case.asks, text=case.asks, gold=frozenset()) for case in cases if not case.has]
        corpus = QuestionSet(name=name, corpus=passages, questions=own)
        drawn = (_drawn(each, most, unlike) for each, most in ((own, count), (unsaid, strangers)))
        found.append(Asked(corpus=corpus, questions=next(drawn), strangers=next(drawn)))
    return found


def _drawn(questions: Sequence[Question], count: int, unlike: int) -> list[Question]:
    before = random.Random(SEED).sample(questions, min(unlike, len(questions)))
    left = [one for one in questions if one not in before]
    return random.Random(SEED).sample(left, min(count, len(left)))


def _documents(data: Path, half: Half) -> Iterator[tuple[str, list[Case], list[Paragraph]]]:
    """The documents of one half by their names, with their questions and passages."""
    for one in json.loads(FILES[half].read_text("utf-8")):
        kind, _, name = one["document"].partition("/")
        folder = {"sample": SHIPPED / "sample", "answers": DATA / "answers"}.get(kind, data / kind)
        yield name, _cases(one), passages_of(folder / name)


def run(data: Path, half: Half, cache: Path, *, tells_all: bool = False) -> None:
    """Ask each document alone, and then all of them together."""
    documents = list(_documents(data, half))
    print(HEADER)
    for name, cases, passages in documents:
        _measure(name, QuestionSet(name=name, corpus=passages, questions=[]), cases, cache, tells_all=tells_all)
    whole = QuestionSet(name="all", corpus=[one for *_rest, own in documents for one in own], questions=[])
    _measure("all documents together", whole, [case for _name, cases, _own in documents for case in cases], cache)
    print(LEGEND)


def _cases(written: dict[str, list[dict[str, str | None]]]) -> list[Case]:
    return [Case(asks=str(one["asks"]), has=one["has"] or "") for one in written["questions"]]


def _measure(name: str, corpus: QuestionSet, cases: Sequence[Case], cache: Path, *, tells_all: bool = False) -> None:
    load_set(corpus, cache)
    said = [(case, answer_question(local_operator(), AskedText(text=case.asks))) for case in cases if case.has]
    unsaid = [(case, answer_question(local_operator(), AskedText(text=case.asks))) for case in cases if not case.has]
    refused = [_refused_without(case, corpus) for case, _answer in said]
    given = [(case, one) for case, answer in said + unsaid for one in answer.sentences]
    sure = [_has(case, one.text) for case, one in given if (one.chance or 0.0) >= 0.7]
    print(
        f"{name[:33]:34}{len(said):>6}{share(_any(case, answer) for case, answer in said):>7.3f}"
        f"{share(_first(case, answer) for case, answer in said):>7.3f}{share(refused):>9.3f}{len(unsaid):>8}"
        f"{share(not answer.sentences for _case, answer in unsaid):>7.3f}{len(sure):>6}{share(sure):>7.3f}",
        flush=True,
    )
    if tells_all:
        for case, answer in said:
            if not _first(case, answer):
                print("  missed", case.asks, [(round(one.chance or 0.0, 2), one.text[:60]) for one in answer.sentences])
        for case, answer in unsaid:
            if answer.sentences:
                print("  false", case.asks, [(round(one.chance or 0.0, 2), one.text[:60]) for one in answer.sentences])


def _refused_without(case: Case, corpus: QuestionSet) -> bool:
    """Whether nothing answers once every sentence of the set with the answer is gone; the search is the same."""
    gold = frozenset(one.id for one in corpus.corpus if case.has in one.text)
    question = Question(id="", text=case.asks, gold=gold, answers=frozenset({case.has}))
    hits = search(local_operator(), SearchQuery(text=case.asks, limit=20)).hits
    return not choose(rate_sentences(case.asks, without_answers(hits, question)), limit=5)


def _has(case: Case, text: str) -> bool:
    return bool(case.has) and fold_terms(case.has) in fold_terms(text)


def _any(case: Case, answer: Answer) -> bool:
    return any(_has(case, one.text) for one in answer.sentences)


def _first(case: Case, answer: Answer) -> bool:
    return bool(answer.sentences) and _has(case, answer.sentences[0].text)
