"""Print retrieval quality, separation at 0.7, and time of the search service."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.db import connection

from benchmarks.retrieval.question_sets import Question, load_set, read_sets
from hub.access.principals import local_operator
from hub.evaluation.metrics import evaluate
from knowledge.backends.active_embedder import active_embedding_set, get_embedder
from knowledge.backends.vectors import vector_literal
from knowledge.search.calibration import GOOD_EVIDENCE
from knowledge.search.hybrid import search
from knowledge.types import SearchMode, SearchQuery, SearchResult

TOP = 10
GOLD_WITHIN = 5


def run(folder: Path, count: int, cache: Path) -> None:
    """Measure every set; strangers are the questions of the other sets."""
    sets = read_sets(folder)
    for question_set in sets:
        load_set(question_set, cache)
        questions = question_set.sample(count)
        strangers = [q for other in sets if other is not question_set for q in other.sample(count)]
        print(f"\n{question_set.name}: {len(question_set.corpus)} passages, {len(questions)} questions")
        print(f"{'':16}{'nDCG@10':>9}{'recall@10':>11}{'MRR@10':>9}{'gold≥0.7':>10}{'strangers<0.7':>15}{'p50 ms':>8}")
        _print_plain(questions)
        for mode in SearchMode:
            _print_mode(mode, questions, strangers)


def _print_plain(questions: Sequence[Question]) -> None:
    quality = evaluate([(_plain_top(question.text), question.gold) for question in questions], k=TOP)
    print(f"{'plain pgvector':16}{quality.ndcg:9.3f}{quality.recall:11.3f}{quality.mrr:9.3f}")


def _plain_top(text: str) -> list[str]:
    embedding_set = active_embedding_set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.public_id FROM knowledge_chunkvector v JOIN knowledge_chunk c ON c.id = v.chunk_id "
            "WHERE v.embedding_set_id = %s ORDER BY v.vector <=> %s::halfvec LIMIT %s",
            [embedding_set.pk, vector_literal(get_embedder().embed_query(text)), TOP],
        )
        return [row[0] for row in cursor.fetchall()]


def _print_mode(mode: SearchMode, questions: Sequence[Question], strangers: Sequence[Question]) -> None:
    answers = [_ask(question, mode) for question in questions]
    asked = zip(answers, questions, strict=True)
    quality = evaluate([([h.chunk_id for h in answer.hits], q.gold) for answer, q in asked], k=TOP)
    kept = [score for score in map(_gold_score, answers, questions) if score is not None]
    foreign = [_best_score(_ask(question, mode)) for question in strangers]
    print(
        f"{mode.value:16}{quality.ndcg:9.3f}{quality.recall:11.3f}{quality.mrr:9.3f}"
        f"{_share(score >= GOOD_EVIDENCE for score in kept):10.3f}"
        f"{_share(score < GOOD_EVIDENCE for score in foreign):15.3f}"
        f"{statistics.median(answer.timings_ms['total'] for answer in answers):8.1f}"
    )


def _ask(question: Question, mode: SearchMode) -> SearchResult:
    return search(local_operator(), SearchQuery(text=question.text, mode=mode, limit=TOP))


def _gold_score(answer: SearchResult, question: Question) -> float | None:
    return next((hit.score for hit in answer.hits[:GOLD_WITHIN] if hit.chunk_id in question.gold), None)


def _best_score(answer: SearchResult) -> float:
    return max((hit.score or 0.0 for hit in answer.hits), default=0.0)


def _share(facts: Iterable[bool]) -> float:
    values = list(facts)
    return sum(values) / len(values) if values else float("nan")
