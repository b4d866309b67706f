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
from django.db.models import Max, Min
from numpy.typing import NDArray

from benchmarks.retrieval.exact import stored_vectors
from benchmarks.retrieval.filling import filled
from benchmarks.retrieval.prepared import QUERIES, drawn_questions, prepare
from benchmarks.retrieval.question_sets import read_sets
from benchmarks.retrieval.synthetic import SHARES
from hub.access.principals import local_operator
from hub.core.processes import REQUESTS, collect_seldom
from knowledge.index.active_embedder import active_embedding_set
from knowledge.index.vectors import vector_literal
from knowledge.index.warm_up import warm_up, way_to_warm
from knowledge.models import ChunkVector, EmbeddingSet
from knowledge.search import recall, scope
from knowledge.search.candidates import nearest_chunks
from knowledge.search.hybrid import search
from knowledge.search.reach import reach_of
from knowledge.search.scope import permitted_chunks
from knowledge.types.search import SearchFilter, SearchMode, SearchQuery

RECALL_QUERIES = 100
CLIENTS = 16
TOP = 10


def run(folder: Path, chunks: int, kept: Path) -> None:
    """Fill an empty hub with ``chunks`` passages, unless ``kept`` holds them already, and measure.

    Other questions than those that are measured are asked before, for whoever comes in the morning finds the index in
    memory, but not what their own question needs.
    """
    sets = read_sets(folder)
    embedding_set = active_embedding_set()
    queries = filled(chunks, sets, embedding_set, QUERIES, kept)
    drawn = drawn_questions(sets)
    others = sorted({q.text for one in sets for q in one.questions} - set(drawn))
    before = random.Random(1).sample(others, QUERIES)
    prepare(dict(zip([*drawn, *before], [*queries, *_some_stored(embedding_set)], strict=True)))
    _warm_up()
    collect_seldom(REQUESTS)  # as a web process does after its start
    for text in before:
        _asker(SearchMode.HYBRID)(text)
    print(f"{'':10}{'clients':>8}{'p50':>8}{'p95':>8}{'p99':>8} ms{'here':>8}{'PostgreSQL':>12} processor ms, mean")
    for asked in ("first", "again"):
        print(f"questions asked {asked}, load {os.getloadavg()[0]:.1f}")
        for mode in SearchMode:
            _print_latency(mode, drawn)
    _print_latency_of_many(SearchMode.HYBRID, drawn)
    _print_recall(embedding_set, queries[:RECALL_QUERIES])


def _some_stored(embedding_set: EmbeddingSet) -> list[NDArray[np.float32]]:
    """Take ``QUERIES`` of the stored vectors, evenly spread, to ask with."""
    rows = ChunkVector.objects.filter(embedding_set=embedding_set)
    first, last = rows.aggregate(Min("chunk_id"), Max("chunk_id")).values()
    keys = np.linspace(first, last, QUERIES).astype(int).tolist()
    return [np.array(one, np.float32) for one in rows.filter(chunk_id__in=keys).values_list("vector", flat=True)]


def _warm_up() -> None:
    """Read the index into memory as a worker does after its start."""
    started, read, following = time.perf_counter(), _read_from_disk_mib(), 0
    while (after := warm_up(following, seconds=60)) is not None:
        following = after
    spent = time.perf_counter() - started
    print(f"warmed up in {spent:.0f} s, by {way_to_warm()}; {_read_from_disk_mib() - read:.0f} MiB came from disk")


def _print_latency(mode: SearchMode, questions: Sequence[str]) -> None:
    """Print how long one client waits, and what a search costs in processor time, which other programs stretch less."""
    ask, read = _asker(mode), _read_from_disk_mib()
    ours, theirs = time.process_time(), backend_seconds()
    times = [ask(text) for text in questions]
    ours, theirs = time.process_time() - ours, backend_seconds() - theirs
    each, read = 1000 / len(questions), _read_from_disk_mib() - read
    print(f"{_told(mode, 1, times)}{ours * each:11.1f}{theirs * each:12.1f}   {read:.0f} MiB from disk", flush=True)


def _print_latency_of_many(mode: SearchMode, questions: Sequence[str]) -> None:
    ask = _asker(mode)
    with ThreadPoolExecutor(max_workers=CLIENTS) as pool:
        list(pool.map(ask, questions[:CLIENTS]))  # connections
        times = list(pool.map(ask, questions))
        list(pool.map(lambda _n: connection.close(), range(CLIENTS)))
    print(_told(mode, CLIENTS, times), flush=True)


def _told(mode: SearchMode, clients: int, times: Sequence[float]) -> str:
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    return f"{mode.value:10}{clients:8}{p50:8.1f}{p95:8.1f}{p99:8.1f}"


def backend_seconds() -> float:
    """Processor seconds that this connection's server process has used so far. Source: proc(5), utime and stime."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        stat = Path(f"/proc/{cursor.fetchone()[0]}/stat").read_text()
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _read_from_disk_mib() -> float:
    """What the machine has read from its disks since it started, whoever asked. Source: /proc/vmstat, in KiB."""
    lines = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    return int(lines["pgpgin"]) / 1024


def _asker(mode: SearchMode) -> Callable[[str], float]:
    def ask(text: str) -> float:
        started = time.perf_counter()
        search(local_operator(), SearchQuery(text=text, mode=mode))
        return (time.perf_counter() - started) * 1000

    return ask


def _print_recall(embedding_set: EmbeddingSet, queries: NDArray[np.float32]) -> None:
    """Compare what the plan chosen finds with comparing all, under filters of falling selectivity."""
    vectors = stored_vectors(embedding_set)
    columns = f"{'share':12}{'permitted':>10}{'plan':>8}{'recall@10':>11}{'worst':>7}"
    print(f"{columns}{'p50 ms':>8}{'p95 ms':>8}{'PostgreSQL':>12} processor ms, mean")
    for name in ("all", *SHARES):
        restriction = SearchFilter(metadata={} if name == "all" else {name: True})
        found, times = [], []
        theirs = backend_seconds()
        for query in queries:
            permitted = permitted_chunks(reach_of(local_operator()), restriction, embedding_set)
            started = time.perf_counter()
            found.append(_nearest(embedding_set, query, permitted))
            times.append((time.perf_counter() - started) * 1000)
        theirs = (backend_seconds() - theirs) * 1000 / len(queries)
        keys = _keys(permitted)
        exact = vectors.nearest(queries, keys, TOP)
        recalls = [len(set(one) & set(other)) / TOP for one, other in zip(found, exact, strict=True)]
        p50, p95 = np.percentile(times, [50, 95])
        plan = "exact" if permitted.is_comparable else "HNSW"
        print(
            f"{name:12}{keys.size:10}{plan:>8}{np.mean(recalls):11.3f}{min(recalls):7.1f}{p50:8.1f}{p95:8.1f}{theirs:12.1f}",
            flush=True,
        )


def _keys(permitted: scope.PermittedChunks) -> NDArray[np.int64]:
    with connection.cursor() as cursor:
        cursor.execute(permitted.sql, permitted.params)
        return np.array([row[0] for row in cursor.fetchall()], np.int64)


def _nearest(embedding_set: EmbeddingSet, query: NDArray[np.float32], permitted: scope.PermittedChunks) -> list[int]:
    with transaction.atomic():
        nearest = nearest_chunks(embedding_set, vector_literal(query), permitted, limit=recall.LEG_DEPTH)
    return nearest.chunk_ids[:TOP].tolist()
