"""Fill an empty hub with synthetic passages, or find that an earlier run did."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from benchmarks.retrieval.bulk import write_segments
from benchmarks.retrieval.question_sets import QuestionSet
from benchmarks.retrieval.synthetic import Clusters, TermSource, copy_vectors, make_chunks, write_terms
from knowledge.index.segments import maintain_segments
from knowledge.index.vectors import create_index, drop_index
from knowledge.models import Chunk, EmbeddingSet

# Above this, indexing as ingestion does takes too long, and segments are written as merging would leave them.
MOST_IN_BATCHES = 200_000
_SIZES = (
    *("knowledge_chunk", "knowledge_chunkvector", "knowledge_lexicalposting", "knowledge_lexicalterm"),
    "knowledge_lexicalentry",
)


def filled(
    chunks: int, sets: Sequence[QuestionSet], embedding_set: EmbeddingSet, queries: int, folder: Path
) -> NDArray[np.float32]:
    """Make ``chunks`` passages, unless ``folder`` says that they are there; gives query vectors: (queries, dimension).

    A build that was interrupted after the postings goes on with the vectors.

    :raises SystemExit: the folder holds passages without all of their postings.
    """
    with_postings, with_vectors = folder / "postings.json", folder / "queries.npy"
    if not with_postings.exists():
        if Chunk.objects.exists():
            raise SystemExit(f"{folder} holds an unfinished build: remove it, or give another --keep")
        with _timed("rows"):
            keys = make_chunks(chunks, embedding_set, sets[0].corpus[0].text[:400])
        terms = _write_postings(keys, sets, embedding_set, np.random.default_rng(7))
        with_postings.write_text(json.dumps({"distinct_terms": terms / len(keys)}))
    print(f"{json.loads(with_postings.read_text())['distinct_terms']:.0f} distinct terms in a passage")
    if not with_vectors.exists():
        np.save(with_vectors, _write_vectors(embedding_set, queries, np.random.default_rng(8)))
        print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB at most")
    _print_sizes()
    vectors: NDArray[np.float32] = np.load(with_vectors)
    return vectors


def _write_postings(
    keys: list[int], sets: Sequence[QuestionSet], embedding_set: EmbeddingSet, rng: np.random.Generator
) -> int:
    terms = 0
    is_bulk = len(keys) > MOST_IN_BATCHES
    with _timed("postings"):
        in_bulk = write_segments(keys, sets, embedding_set, rng)
        for written in in_bulk if is_bulk else write_terms(keys, TermSource(sets, rng)):
            terms += written
            _progress(f"{terms:,} postings")
    if not is_bulk:
        with _timed("merge"):
            while maintain_segments():
                pass
    return terms


def _write_vectors(embedding_set: EmbeddingSet, queries: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Give every passage a vector, and ``queries`` more of the same clusters back."""
    keys = list(Chunk.objects.order_by("pk").values_list("pk", flat=True))
    clusters = Clusters(len(keys), embedding_set.dimension, rng)
    drop_index(embedding_set)
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE knowledge_chunkvector")
    done = 0
    with _timed("vectors"):
        for written in copy_vectors(embedding_set, keys, clusters):
            done += written
            _progress(f"{done:,} vectors")
    with _timed("HNSW"):
        create_index(embedding_set)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return clusters.draw(queries)


def _print_sizes() -> None:
    with connection.cursor() as cursor:
        for table in _SIZES:
            cursor.execute("SELECT pg_total_relation_size(%s) / 1048576", [table])
            print(f"{table}: {cursor.fetchone()[0]} MiB", flush=True)


def _progress(text: str) -> None:
    print(f"  {time.strftime('%H:%M:%S')} {text}", flush=True)


@contextmanager
def _timed(step: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    print(f"{step}: {time.perf_counter() - started:.1f} s", flush=True)
