"""Question sets in SQuAD's format, which do not ship with the hub: a JSON file of articles with paragraphs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.retrieval.measure import OWN_SETS, report
from benchmarks.retrieval.question_sets import Paragraph, Question, QuestionSet, passage_id, read_sets

# Files of more paragraphs are halved by article: one half to choose on, one to report.
WHOLE = 400
SEED = 20261122
LEAST_CHARACTERS = 8


def run(folder: Path, count: int, cache: Path) -> None:
    """Measure every file of the folder, and the small English set; strangers ask of other sets."""
    files = sorted(folder.glob("*.json"))
    report([*(one for path in files for one in read_squad(path)), *read_sets(OWN_SETS)], count, cache)


def read_squad(path: Path) -> list[QuestionSet]:
    """Read a file as one set, or as halves "-a" and "-b" with other articles each."""
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    if sum(len(article["paragraphs"]) for article in articles) <= WHOLE:
        return [_as_set(path.stem, articles)]
    order = list(range(len(articles)))
    random.Random(SEED).shuffle(order)
    halves = {"a": order[: len(order) // 2], "b": order[len(order) // 2 :]}
    return [_as_set(f"{path.stem}-{half}", [articles[n] for n in sorted(kept)]) for half, kept in halves.items()]


def read_squad_whole(path: Path) -> QuestionSet:
    """Read a file as one set, however large."""
    return _as_set(path.stem, json.loads(path.read_text(encoding="utf-8"))["data"])


def _as_set(name: str, articles: Iterable[Mapping[str, Any]]) -> QuestionSet:
    corpus: dict[tuple[str, str], Paragraph] = {}
    gold: dict[str, set[str]] = {}
    answers: dict[str, set[str]] = {}
    for article in articles:
        title = article["title"].replace("_", " ")
        for paragraph in article["paragraphs"]:
            text = paragraph["context"].strip()
            known = Paragraph(id=passage_id(name, len(corpus)), title=title, text=text)
            kept = corpus.setdefault((title, text), known)
            for question in paragraph["qas"]:
                if question.get("is_impossible"):
                    continue
                asked = " ".join(question["question"].split())
                gold.setdefault(asked, set()).add(kept.id)
                answers.setdefault(asked, set()).update(one["text"] for one in question["answers"])
    return QuestionSet(
        name=name,
        corpus=list(corpus.values()),
        questions=[
            Question(id=f"{name}-q{number}", text=text, gold=frozenset(ids), answers=frozenset(answers[text]))
            for number, (text, ids) in enumerate(gold.items())
            if len(text) >= LEAST_CHARACTERS
        ],
    )
