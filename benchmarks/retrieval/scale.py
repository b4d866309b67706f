"""Latency by leg, recall under filters, build time and size, with synthetic passages."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray

from benchmarks.retrieval.filling import filled
from benchmarks.retrieval.question_sets import read_sets
from benchmarks.retrieval.synthetic import SHARES
from hub.access.principals import local_operator
from knowledge.backends.active_embedder import active_embedding_set
from knowledge.models import EmbeddingSet
from knowledge.search import legs, scope
from knowledge.search.hybrid import search
from knowledge.search.scope import permitted_chunks
from knowledge.search.vector import nearest_chunks
from knowledge.types import SearchFilter, SearchMode, SearchQuery

QUERIES = 200
RECALL_QUERIES = 40
CLIENTS = 16
TOP = 10


class PreparedVectors:
    """Stands in for the model: gives a vector that was made before, so that only search is timed."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._vectors[hash(text) % len(self._vectors)]
        return vector

    def query_is_truncated(self, _text: str) -> bool:
        return False


def run(folder: Path, chunks: int, kept: Path) -> None:
    """Fill an empty hub with ``chunks`` passages, unless ``kept`` holds them already, and measure."""
    sets = read_sets(folder)
    embedding_set = active_embedding_set()
    queries = filled(chunks, sets, embedding_set, QUERIES, kept)
    legs.embedder_of = lambda _set: PreparedVectors(queries)  # type: ignore[assignment,return-value]
    questions = [q.text for q in random.Random(0).sample([q for one in sets for q in one.questions], QUERIES)]
    print(f"load {os.getloadavg()[0]:.1f}")
    print(f"{'':10}{'clients':>8}{'p50':>8}{'p95':>8}{'p99':>8} ms")
    for mode in SearchMode:
        _print_latency(mode, questions, clients=1)
    _print_latency(SearchMode.HYBRID, questions, clients=CLIENTS)
    for mode in SearchMode:
        _print_processor(mode, questions)
    _print_recall(embedding_set, queries[:RECALL_QUERIES])


def _print_latency(mode: SearchMode, questions: Sequence[str], *, clients: int) -> None:
    ask = _asker(mode)
    with ThreadPoolExecutor(max_workers=clients) as pool:
        list(pool.map(ask, questions))  # warm: caches, prepared plans
        times = list(pool.map(ask, questions))
        list(pool.map(lambda _n: connection.close(), range(clients)))
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    print(f"{mode.value:10}{clients:8}{p50:8.1f}{p95:8.1f}{p99:8.1f}", flush=True)


def _print_processor(mode: SearchMode, questions: Sequence[str]) -> None:
    """Print what a search costs in processor time, which other programs on the machine do not lengthen much."""
    ask = _asker(mode)
    ask(questions[0])
    ours, theirs = time.process_time(), _backend_s()
    for text in questions:
        ask(text)
    ours, theirs = time.process_time() - ours, _backend_s() - theirs
    each = 1000 / len(questions)
    print(
        f"{mode.value:10} processor time: {ours * each:.1f} ms here, {theirs * each:.1f} ms in PostgreSQL", flush=True
    )


def _backend_s() -> float:
    """Processor seconds that this connection's server process has used so far. Source: proc(5), utime and stime."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        stat = Path(f"/proc/{cursor.fetchone()[0]}/stat").read_text()
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _asker(mode: SearchMode) -> Callable[[str], float]:
    def ask(text: str) -> float:
        started = time.perf_counter()
        search(local_operator(), SearchQuery(text=text, mode=mode))
        return (time.perf_counter() - started) * 1000

    return ask


def _print_recall(embedding_set: EmbeddingSet, queries: NDArray[np.float32]) -> None:
    """Compare what the plan chosen finds with comparing all, under filters of falling selectivity."""
    print(f"{'share':12}{'permitted':>10}{'plan':>8}{'recall@10':>11}{'p50 ms':>8}{'p95 ms':>8}")
    for name in ("all", *SHARES):
        restriction = SearchFilter(metadata={} if name == "all" else {name: True})
        found, times = [], []
        for query in queries:
            permitted = permitted_chunks(local_operator(), restriction, embedding_set)
            started = time.perf_counter()
            found.append(_nearest(embedding_set, query, permitted))
            times.append((time.perf_counter() - started) * 1000)
        is_small = permitted.is_small
        limit, scope.SMALL = scope.SMALL, 2**31 - 2
        every = permitted_chunks(local_operator(), restriction, embedding_set)
        exact = [_nearest(embedding_set, query, every) for query in queries]
        scope.SMALL = limit
        recall = np.mean([len(set(one) & set(other)) / TOP for one, other in zip(found, exact, strict=True)])
        p50, p95 = np.percentile(times, [50, 95])
        plan = "exact" if is_small else "HNSW"
        print(f"{name:12}{every.count:10}{plan:>8}{recall:11.3f}{p50:8.1f}{p95:8.1f}", flush=True)


def _nearest(embedding_set: EmbeddingSet, query: NDArray[np.float32], permitted: scope.PermittedChunks) -> list[int]:
    with transaction.atomic():
        hits = nearest_chunks(embedding_set, query, permitted, limit=legs.LEG_DEPTH)
    return [hit.chunk_id for hit in hits[:TOP]]
