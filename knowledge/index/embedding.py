"""Embedding passages, and writing what a search reads of them: for the pipeline, new sets and single documents."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from knowledge.embedders import Embedder, Vectors
from knowledge.index.postings import write_postings
from knowledge.index.vectors import write_vectors
from knowledge.models import Chunk, Document, EmbeddingSet, LexicalEntry

EMBED_BATCH = 16
"""How many passages are given to the model at once."""


def embed(chunks: Sequence[Chunk], embedder: Embedder) -> Vectors:
    """Return the passages' vectors, in order: (n, dimension). Slow; not to be called inside a transaction."""
    return embedder.embed_passages([chunk.embedded_text for chunk in chunks])


def write_embedded(
    embedding_set: EmbeddingSet,
    chunks: Sequence[Chunk],
    vectors: Vectors,
    *,
    document: Document,
    needed: Collection[int] | None = None,
) -> int:
    """Write vectors, and the postings that no other set has written, of passages of one document.

    Both in the caller's transaction, so that what a crash leaves is whole; once in each, since terms of a second call
    could be waited for in a circle. ``needed``: primary keys of those that are still there and locked; default: all.
    Returns how many were written.
    """
    rows = [number for number, chunk in enumerate(chunks) if needed is None or chunk.pk in needed]
    kept = [chunks[number] for number in rows]
    write_vectors(embedding_set, [chunk.pk for chunk in kept], vectors[rows])
    posted = set(LexicalEntry.objects.filter(chunk__in=kept).values_list("chunk_id", flat=True))
    if unposted := [chunk for chunk in kept if chunk.pk not in posted]:
        write_postings(unposted, title=document.title, path=document.path)
    return len(kept)
