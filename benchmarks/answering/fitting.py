"""Judge sentences by question sets, and fit the chances that answers go by: ``knowledge/answering/chances.json``."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.answering.boosting import Settings, fit_trees
from benchmarks.answering.files import fields_asked, read_files, without_answers
from benchmarks.answering.halves import SEED, Half
from benchmarks.retrieval.question_sets import Question, QuestionSet, load_set
from hub.access.principals import local_operator
from knowledge.answering.chance import FILE
from knowledge.answering.extractive import read_material
from knowledge.search import search
from knowledge.text.folding import fold_terms
from knowledge.types.search import Hit, SearchFilter, SearchQuery

PASSAGES = 20
MORE = 4
"""Asked for beyond those that are read, since the right ones are taken out once."""
ANSWERS, DOES_NOT, UNKNOWN = 1, 0, 2
WITHOUT_MODEL = 0.15
"""Of the questions, how many are also judged as if the embedding model did not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The sentences of one question: their signs, and which of them answer."""

    set_name: str
    way: str
    rows: NDArray[np.float64]
    labels: NDArray[np.int64]


def collect(
    question_set: QuestionSet, questions: Sequence[Question], strangers: Sequence[Question], cache: Path
) -> tuple[list[str], list[Judged]]:
    """Ask a set's questions with the right passages and without them, and strangers' questions; judge what is found."""
    load_set(question_set, cache)
    names: list[str] = []
    judged: list[Judged] = []
    chance = random.Random(SEED)
    for question in [*questions, *strangers]:
        hits = _asked(question, chance)
        ways = (
            [("there", hits[:PASSAGES]), ("out", list(_without(hits, question)))]
            if question.gold
            else [("stranger", hits)]
        )
        for way, kept in ways:
            material = read_material(question.text, kept[:PASSAGES])
            if not material.candidates:
                continue
            names, rows = material.signs()
            labels = np.array([_label(question, one.one.hit, one.one.text) for one in material.candidates])
            judged.append(Judged(set_name=question_set.name, way=way, rows=rows, labels=labels))
    return names, judged


def _asked(question: Question, chance: random.Random) -> list[Hit]:
    """Search all of a set, and every third time the document alone that has the answer."""
    found = search(local_operator(), SearchQuery(text=question.text, limit=PASSAGES + MORE)).hits
    right = next((hit.document_id for hit in found if hit.chunk_id in question.gold), None)
    if right and chance.random() < 1 / 3:
        narrowed = SearchQuery(text=question.text, limit=PASSAGES + MORE, filter=SearchFilter(document_ids=(right,)))
        found = search(local_operator(), narrowed).hits
    return list(found)


def _without(hits: Sequence[Hit], question: Question) -> Iterator[Hit]:
    """Leave the right passages out; of documents, where a passage is a whole table, what answers in them alone."""
    is_document = any(hit.section_path for hit in hits)
    yield from without_answers(hits, question) if is_document else (h for h in hits if h.chunk_id not in question.gold)


def _label(question: Question, hit: Hit, text: str) -> int:
    said = fold_terms(text)
    has_answer = any(fold_terms(answer) in said for answer in question.answers)
    if not has_answer:
        return DOES_NOT
    return ANSWERS if hit.chunk_id in question.gold else UNKNOWN


def fit(names: Sequence[str], judged: Sequence[Judged], settings: Settings = Settings()) -> dict[str, object]:  # noqa: B008
    """Fit the trees; each set weighs the same, and some questions come once more without signs of meaning."""
    chance = random.Random(SEED)
    near = [place for place, name in enumerate(names) if name.startswith("near")]
    rows, labels, weights = [], [], []
    sizes: Counter[str] = Counter()
    for one in judged:
        sizes[one.set_name] += len(one.rows)
    for one in judged:
        known = one.labels != UNKNOWN
        versions = [one.rows[known]]
        if chance.random() < WITHOUT_MODEL:
            blind = one.rows[known].copy()
            blind[:, near] = np.nan
            versions.append(blind)
        for version in versions:
            rows.append(version)
            labels.append(one.labels[known] == ANSWERS)
            weights.append(np.full(int(known.sum()), sum(sizes.values()) / len(sizes) / sizes[one.set_name]))
    trees = fit_trees(
        tuple(names), np.concatenate(rows), np.concatenate(labels).astype(float), np.concatenate(weights), settings
    )
    questions = {name: sum(one.way != "out" for one in judged if one.set_name == name) for name in sizes}
    return {
        "provenance": {"questions": questions, "fitted_at": datetime.now(UTC).date().isoformat()},
        "trees": trees.as_dict(),
    }


def run(squad: Sequence[QuestionSet], files: Path | None, count: int, cache: Path) -> None:
    """Judge sets, none of which is reported, and the build half of a folder of documents; write the file that ships."""
    judged: list[Judged] = []
    names: list[str] = []
    for question_set in squad:
        others = [one for one in squad if one is not question_set and one.is_english is question_set.is_english]
        strangers = [replace(one, gold=frozenset()) for one in (others[0].sample(count // 4) if others else [])]
        names, found = collect(question_set, question_set.sample(count), strangers, cache)
        print(f"{question_set.name}: {len(found)} judged", flush=True)
        judged += found
    if files is not None:
        documents = read_files(files, Half.BUILD)
        asked, foreign = fields_asked(documents, count)
        names, found = collect(documents, asked, foreign, cache)
        print(f"{documents.name}: {len(documents.corpus)} passages, {len(found)} judged", flush=True)
        judged += found
    FILE.write_text(json.dumps(fit(names, judged), ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
