"""Retrieval quality side by side: the search service, and what one would take otherwise, on the same vectors."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import bm25s
import numpy as np
from django.db import connection
from numpy.typing import NDArray

from benchmarks.retrieval.quality import evaluate
from benchmarks.retrieval.question_sets import Question, QuestionSet, load_set, read_sets
from hub.access.principals import local_operator
from hub.evaluation.metrics import ndcg_at
from knowledge.index.active_embedder import active_embedding_set, get_embedder
from knowledge.index.analysis import analyse_passage
from knowledge.index.vectors import vector_literal
from knowledge.models import ChunkVector
from knowledge.search.fusion import GOOD_EVIDENCE
from knowledge.search.hybrid import search
from knowledge.types.search import SearchMode, SearchQuery, SearchResult

TOP = 10
GOLD_WITHIN = 5
DEPTH = 100
RRF_K = 60  # Source: Cormack, Clarke & Büttcher 2009
SHUFFLES = 10_000
OWN_SETS = Path(__file__).parent
HEADER = f"{'':22}{'nDCG@10':>9}{'recall@10':>11}{'MRR@10':>9}{'p':>8}{'gold≥.7':>10}{'strangers<.7':>15}{'p50 ms':>8}"
Ranker = Callable[[str], list[str]]


def run(folder: Path, count: int, cache: Path) -> None:
    """Measure every set, and the small English one that ships with the benchmark; strangers ask of other sets."""
    report([*read_sets(folder), *read_sets(OWN_SETS)], count, cache)


def report(sets: Sequence[QuestionSet], count: int, cache: Path) -> None:
    """Print what each set's questions find in its corpus, and what ``count`` questions of each other set do."""
    for question_set in sets:
        load_set(question_set, cache)
        questions = question_set.sample(count)
        strangers = [q for other in sets if other is not question_set for q in other.sample(count)]
        print(f"\n{question_set.name}: {len(question_set.corpus)} passages, {len(questions)} questions")
        print(HEADER)
        answers = {mode: [ask(q, mode) for q in questions] for mode in SearchMode}
        ranked = {f"hub {mode.value}": [_names(one) for one in found] for mode, found in answers.items()}
        ranked |= {name: [rank(q.text) for q in questions] for name, rank in alternatives(question_set).items()}
        gains = {name: _gains(rankings, questions) for name, rankings in ranked.items()}
        for name, rankings in ranked.items():
            quality = evaluate([(r, q.gold) for r, q in zip(rankings, questions, strict=True)], k=TOP)
            p = chance(gains["hub hybrid"], gains[name])
            print(f"{name:22}{quality.ndcg:9.3f}{quality.recall:11.3f}{quality.mrr:9.3f}{p:8.3f}", end="")
            mode = SearchMode(name.removeprefix("hub ")) if name.startswith("hub ") else None
            print(_separation(mode, answers[mode], questions, strangers) if mode else "", flush=True)
    print("\np: chance of a difference in nDCG@10 to hub hybrid as large as this one, if there were none")


def _gains(rankings: Sequence[list[str]], questions: Sequence[Question]) -> list[float]:
    return [ndcg_at(ranked, q.gold, TOP) for ranked, q in zip(rankings, questions, strict=True)]


def alternatives(question_set: QuestionSet) -> Mapping[str, Ranker]:
    """BM25 (bm25s on Sudachi's words), exact dense vectors, their fusion by rank, and a plain pgvector query."""
    ids = [paragraph.id for paragraph in question_set.corpus]
    index = bm25s.BM25()
    index.index([_tokens(f"{p.title}\n{p.text}") for p in question_set.corpus], show_progress=False)
    vectors = _stored(ids)

    def lexical(text: str) -> list[str]:
        tokens = [token for token in _tokens(text) if token in index.vocab_dict]
        if not tokens:
            return []
        scores = index.get_scores(tokens)
        return [ids[place] for place in np.argsort(-scores, kind="stable")[:DEPTH]]

    def dense(text: str) -> list[str]:
        return [ids[place] for place in np.argsort(-(vectors @ get_embedder().embed_query(text)))[:DEPTH]]

    def fused(text: str) -> list[str]:
        totals: dict[str, float] = {}
        for ranking in (lexical(text), dense(text)):
            for rank, name in enumerate(ranking, 1):
                totals[name] = totals.get(name, 0.0) + 1 / (RRF_K + rank)
        return sorted(totals, key=lambda name: (-totals[name], name))

    return {"bm25s": lexical, "bm25s + dense, RRF": fused, "plain pgvector": _plain_top}


def _tokens(text: str) -> list[str]:
    return list(analyse_passage("", text).words.elements())


def _stored(ids: Sequence[str]) -> NDArray[np.float32]:
    rows = ChunkVector.objects.filter(embedding_set=active_embedding_set()).values_list("chunk__public_id", "vector")
    by_id = dict(rows)
    return np.array([by_id[name] for name in ids], np.float32)


def _plain_top(text: str) -> list[str]:
    embedding_set = active_embedding_set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.public_id FROM knowledge_chunkvector v JOIN knowledge_chunk c ON c.id = v.chunk_id "
            "WHERE v.embedding_set_id = %s ORDER BY v.vector <=> %s::halfvec LIMIT %s",
            [embedding_set.pk, vector_literal(get_embedder().embed_query(text)), TOP],
        )
        return [row[0] for row in cursor.fetchall()]


def chance(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Test paired differences by flipping signs at random, two-sided. Source: Smucker, Allan & Carterette 2007."""
    differences = np.array(ours) - np.array(theirs)
    signs = np.random.default_rng(0).choice([-1, 1], size=(SHUFFLES, len(differences)))
    shuffled = np.abs(signs @ differences)
    return float((1 + (shuffled >= abs(differences.sum()) - 1e-9).sum()) / (SHUFFLES + 1))


def _separation(
    mode: SearchMode, answers: Sequence[SearchResult], questions: Sequence[Question], strangers: Sequence[Question]
) -> str:
    kept = [score for score in map(gold_score, answers, questions) if score is not None]
    foreign = [best_score(ask(question, mode)) for question in strangers]
    return (
        f"{share(score >= GOOD_EVIDENCE for score in kept):10.3f}"
        f"{share(score < GOOD_EVIDENCE for score in foreign):15.3f}"
        f"{statistics.median(answer.timings_ms['total'] for answer in answers):8.1f}"
    )


def ask(question: Question, mode: SearchMode) -> SearchResult:
    """Ask the search service for the best passages."""
    return search(local_operator(), SearchQuery(text=question.text, mode=mode, limit=TOP))


def _names(answer: SearchResult) -> list[str]:
    return [hit.chunk_id for hit in answer.hits]


def gold_score(answer: SearchResult, question: Question) -> float | None:
    """Give the score of the first right passage, if it is among the first ``GOLD_WITHIN``."""
    return next((hit.score for hit in answer.hits[:GOLD_WITHIN] if hit.chunk_id in question.gold), None)


def best_score(answer: SearchResult) -> float:
    """Give the best score of an answer, 0 for none."""
    return max((hit.score or 0.0 for hit in answer.hits), default=0.0)


def share(facts: Iterable[bool]) -> float:
    """Give the share of facts that hold, NaN of none."""
    values = list(facts)
    return sum(values) / len(values) if values else float("nan")
