"""Searches of the question sets, whose paragraphs are one passage each, by both people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.golden.ask import MODES
from benchmarks.golden.rest import Answer, Caller
from benchmarks.golden.stable import Stable
from benchmarks.retrieval.question_sets import Question, QuestionSet, load_set, read_sets
from knowledge.models import Collection, CollectionGrant, Document

CLOSED = "closed"
# Of the questions, one in so many is asked by a person who sees half of the documents, and with an explanation.
EVERY = 10


def question_sets(
    folder: Path, cache: Path, names: Stable, *, most: int | None
) -> Iterator[tuple[str, Iterator[tuple[str, Answer]]]]:
    """Load one set after the other in place of all documents; gives a kind and its searches, to be read in turn."""
    admin, reader = Caller("golden-admin", is_superuser=True), Caller("golden-reader")
    for one in read_sets(folder):
        load_set(one, cache)
        _close_half(reader)
        for public_id, title in Document.objects.values_list("public_id", "title"):
            names.learn(public_id, f"doc {title}")
        questions = one.questions if most is None else one.sample(most)
        yield f"search_{one.name}", _asked(admin, questions)
        yield f"search_{one.name}_half", _half(reader, admin, one, questions)


def _close_half(reader: Caller) -> None:
    """Leave every second document, by title, to those with rights in another collection."""
    closed, _made = Collection.objects.get_or_create(slug=CLOSED, defaults={"name": "非公開"})
    opened = Collection.objects.get(slug="benchmark")
    CollectionGrant.objects.get_or_create(collection=opened, user=reader.user, role="reader")
    titles = sorted(Document.objects.values_list("title", flat=True))
    Document.objects.filter(title__in=titles[::2]).update(collection=closed)


def _asked(admin: Caller, questions: list[Question]) -> Iterator[tuple[str, Answer]]:
    for question in questions:
        for mode in MODES:
            yield f"{question.id} {mode}", _search(admin, question, mode, detail="scores")


def _half(
    reader: Caller, admin: Caller, question_set: QuestionSet, questions: list[Question]
) -> Iterator[tuple[str, Answer]]:
    wanted = {question.id for question in question_set.questions[::EVERY]}
    chosen = [question for question in questions if question.id in wanted] or questions[:EVERY]
    for question in chosen:
        for mode in MODES:
            yield f"{question.id} {mode}", _search(reader, question, mode, detail="scores")
            yield f"{question.id} {mode} explained", _search(admin, question, mode, detail="explain")


def _search(caller: Caller, question: Question, mode: str, **options: Any) -> Answer:
    return caller.post("/search", {"query": question.text, "mode": mode, **options})
