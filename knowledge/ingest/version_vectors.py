"""Vectors of a version that search sees already, made for one embedding set outside of the pipeline's turn."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from knowledge.embedders import Embedder
from knowledge.index.active_embedder import policy_id_of
from knowledge.index.vectors import EMBED_BATCH, embed_chunks, write_embedded
from knowledge.models import Chunk, ChunkVector, Document, DocumentVersion, EmbeddingSet, EmbeddingSetStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What one slice did: vectors made, the index of the chunk to go on with, whether none is left."""

    made: int
    next_index: int
    is_last: bool


def chunks_of(version: DocumentVersion, embedding_set: EmbeddingSet) -> QuerySet[Chunk]:
    """The chunks that a set searches in a version, in the order of the text; none when it is not cut so yet."""
    return Chunk.objects.filter(version=version, policy_id=policy_id_of(version, embedding_set)).order_by("index")


def count(version: DocumentVersion, embedding_set: EmbeddingSet) -> tuple[int, int]:
    """How many chunks there are, and how many of them have a vector. Where it is not cut yet: as many as now."""
    rows = chunks_of(version, embedding_set)
    chunks = rows.count()
    embedded = rows.filter(_has_vector(embedding_set)).count()
    return chunks or version.chunks_count or 0, embedded


def embed_slice(
    version: DocumentVersion,
    embedding_set: EmbeddingSet,
    embedder: Embedder,
    *,
    start: int,
    again: bool,
    seconds: float,
) -> Slice:
    """Make vectors from chunk ``start`` on for about ``seconds``, at least one batch.

    Chunks that have one are passed over unless ``again``. Stops where the version is not the current one any more,
    or the set was dropped: vectors of what search does not see would only be in the way.
    """
    waiting = chunks_of(version, embedding_set)
    if not again:
        waiting = waiting.exclude(_has_vector(embedding_set))
    deadline = time.monotonic() + seconds
    made = 0
    while batch := list(waiting.filter(index__gte=start)[:EMBED_BATCH]):
        vectors = embed_chunks(batch, embedder)
        with transaction.atomic():
            document = _locked_document(version, embedding_set)
            if document is None:
                return Slice(made=made, next_index=start, is_last=True)
            rows = Chunk.objects.filter(pk__in=[row.pk for row in batch]).select_for_update(of=("self",))
            kept = set(rows.values_list("pk", flat=True))
            made += write_embedded(embedding_set, batch, vectors, document=document, needed=kept)
        start = batch[-1].index + 1
        if time.monotonic() > deadline:
            return Slice(made=made, next_index=start, is_last=not waiting.filter(index__gte=start).exists())
    return Slice(made=made, next_index=start, is_last=True)


def _locked_document(version: DocumentVersion, embedding_set: EmbeddingSet) -> Document | None:
    """Hold the document until the transaction ends, so that no other version becomes current meanwhile."""
    current = Document.objects.live().filter(pk=version.document_id, current_version_id=version.pk)
    document = current.select_for_update(of=("self",), no_key=True).first()
    kept = EmbeddingSet.objects.filter(pk=embedding_set.pk).exclude(status=EmbeddingSetStatus.DROPPED)
    return document if kept.select_for_update(of=("self",), no_key=True).exists() else None


def _has_vector(embedding_set: EmbeddingSet) -> Exists:
    return Exists(ChunkVector.objects.filter(embedding_set=embedding_set, chunk_id=OuterRef("pk")))
