"""Vectors in PostgreSQL: embedding chunks, writing what a search reads of them, and one HNSW index for each set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from numpy.typing import NDArray

from knowledge.embedders import Embedder, Vectors
from knowledge.index.changes import note_written
from knowledge.index.outside import admit_versions
from knowledge.index.postings import write_postings
from knowledge.models import Chunk, ChunkVector, Document, EmbeddingSet, LexicalEntry

# pgvector's defaults: recall@10 of 0.995 with ef_search 100 on 200,000 vectors of 384 dimensions.
HNSW_M = 16
HNSW_EF_CONSTRUCTION = 64
# What a vector takes while its index is built, besides its values: 2 * m neighbours of 16 bytes, and what holds them.
_BUILD_BYTES_EACH = 1200
# An index that does not fit is finished on disk, many times slower. Source: pgvector's README, "Index Build Time".
_LEAST_BUILD_BYTES = 64 * 1024**2
_WRITE_BATCH = 500

_UPSERT = """
INSERT INTO knowledge_chunkvector (embedding_set_id, chunk_id, vector)
SELECT %s, given.chunk_id, given.vector::halfvec
FROM unnest(%s::bigint[], %s::text[]) AS given (chunk_id, vector)
ORDER BY given.chunk_id
ON CONFLICT (embedding_set_id, chunk_id) DO UPDATE SET vector = EXCLUDED.vector
"""


def index_name(embedding_set: EmbeddingSet) -> str:
    return f"chunkvector_hnsw_{embedding_set.pk}"


def vector_literal(vector: NDArray[np.floating]) -> str:
    """Write a vector as pgvector reads it.

    >>> vector_literal(np.array([0.5, -1.0], np.float32))
    '[0.5,-1]'
    """
    values = vector.tolist()
    # One format for all of them, which takes half the time of one for each.
    return "[" + ",".join(["%.6g"] * len(values)) % tuple(values) + "]"


def create_index(embedding_set: EmbeddingSet, *, concurrently: bool = False) -> None:
    """Build the set's index unless it is there. ``concurrently`` lets writers go on; not inside a transaction.

    A build that was interrupted leaves an invalid index; it is removed and built again.
    """
    if _index_is_valid(embedding_set) is False:
        drop_index(embedding_set, concurrently=concurrently)
    how = "CONCURRENTLY " if concurrently else ""
    dimension, key = int(embedding_set.dimension), int(embedding_set.pk)
    memory = _build_memory(embedding_set)
    # A setting for the transaction holds in one only; outside of it, it is one of the session.
    with nullcontext() if concurrently else transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, %s)", [memory, not concurrently])
        cursor.execute(
            f"CREATE INDEX {how}IF NOT EXISTS {index_name(embedding_set)} ON knowledge_chunkvector "
            f"USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops) "
            f"WITH (m = {HNSW_M}, ef_construction = {HNSW_EF_CONSTRUCTION}) WHERE embedding_set_id = {key}"
        )
        if concurrently:
            cursor.execute("RESET maintenance_work_mem")


def _build_memory(embedding_set: EmbeddingSet) -> str:
    """Ask for as much memory as holds the index of the set's vectors, with a tenth to spare, as far as allowed."""
    vectors = ChunkVector.objects.filter(embedding_set=embedding_set).count()
    needed = int(1.1 * vectors * (2 * embedding_set.dimension + _BUILD_BYTES_EACH))
    return f"{min(max(needed, _LEAST_BUILD_BYTES), settings.CONFIG.hub_index_memory_bytes) // 1024}kB"


def drop_index(embedding_set: EmbeddingSet, *, concurrently: bool = False) -> None:
    how = "CONCURRENTLY " if concurrently else ""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX {how}IF EXISTS {index_name(embedding_set)}")


def _index_is_valid(embedding_set: EmbeddingSet) -> bool | None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [index_name(embedding_set)]
        )
        row = cursor.fetchone()
    return None if row is None else bool(row[0])


def write_vectors(embedding_set: EmbeddingSet, chunk_ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
    """Store one vector for each chunk, replacing what is there: writing twice leaves the same rows.

    ``vectors`` is (n, dimension), finite, stored in half precision. :raises ValueError: another shape or value.
    """
    expected = (len(chunk_ids), embedding_set.dimension)
    if vectors.shape != expected:
        raise ValueError(f"vectors have shape {vectors.shape}, expected {expected}")
    if not np.isfinite(vectors).all():
        raise ValueError("vectors have values that are not finite")
    with connection.cursor() as cursor:
        for start in range(0, len(chunk_ids), _WRITE_BATCH):
            batch = slice(start, start + _WRITE_BATCH)
            literals = [vector_literal(vector) for vector in vectors[batch]]
            cursor.execute(_UPSERT, [embedding_set.pk, list(chunk_ids[batch]), literals])


def delete_vectors(chunk_ids: Sequence[int]) -> int:
    deleted, _by_model = ChunkVector.objects.filter(chunk_id__in=list(chunk_ids)).delete()
    return deleted


EMBED_BATCH = 16
"""How many chunks are given to the model at once."""


def embed_chunks(chunks: Sequence[Chunk], embedder: Embedder) -> Vectors:
    """Return the chunks' vectors, in order: (n, dimension). Slow; not to be called inside a transaction.

    :raises LlmRefused: a document is classified above what goes to the embedder's service.
    """
    admit_versions(embedder, {chunk.version_id for chunk in chunks})
    return embedder.embed_passages([chunk.embedded_text for chunk in chunks])


def write_embedded(
    embedding_set: EmbeddingSet,
    chunks: Sequence[Chunk],
    vectors: Vectors,
    *,
    document: Document,
    needed: Collection[int] | None = None,
) -> int:
    """Write vectors, and the postings that no other set has written, of chunks of one document.

    Both in the caller's transaction, so that what a crash leaves is whole; once in each, since terms of a second call
    could be waited for in a circle. ``needed``: primary keys of those that are still there and locked; default: all.
    Returns how many were written.
    """
    rows = [number for number, chunk in enumerate(chunks) if needed is None or chunk.pk in needed]
    kept = [chunks[number] for number in rows]
    write_vectors(embedding_set, [chunk.pk for chunk in kept], vectors[rows])
    posted = dict(LexicalEntry.objects.filter(chunk__in=kept).values_list("chunk_id", "ordinal"))
    note_written(list(posted.values()), embedding_set=embedding_set)
    if unposted := [chunk for chunk in kept if chunk.pk not in posted]:
        write_postings(unposted, title=document.title, path=document.path)
    return len(kept)
