"""Synthetic passages for measuring at scale: real passages' terms mixed anew, and vectors in clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import Cursor

from benchmarks.retrieval.question_sets import QuestionSet
from knowledge.index.analysis import PassageTerms, analyse_passage
from knowledge.index.postings import AnalysedChunk, store_analysed
from knowledge.models import Blob, Collection, Document, DocumentType, DocumentVersion, EmbeddingSet

CHUNKS_PER_DOCUMENT = 50
SOURCE_PASSAGES = 1500
# A passage keeps this part of a real one's terms; the others are drawn from the terms of all passages.
KEPT = 0.5
# So many of the drawn terms get a name of their own, which makes the long tail of rare terms that larger corpora have.
RENAMED = 0.05
BATCH = 2000
CHUNKS_PER_CLUSTER = 100
SPREAD = 0.9
VECTORS_AT_ONCE = 20_000
SHARES = {"half": 2, "tenth": 10, "hundredth": 100, "thousandth": 1000}
_COPY_CHUNKS = """
COPY knowledge_chunk (public_id, version_id, policy_id, index, content, context_prefix, section_path, start_offset,
  end_offset, token_count, has_table, has_figure, language) FROM STDIN
"""


class TermSource:
    """Draws the terms of synthetic passages from those of real ones."""

    def __init__(self, sets: Sequence[QuestionSet], rng: np.random.Generator) -> None:
        passages = [paragraph for one in sets for paragraph in one.corpus]
        chosen = rng.permutation(len(passages))[:SOURCE_PASSAGES]
        self._rng = rng
        self._real = [analyse_passage(passages[place].title, passages[place].text) for place in chosen]
        self._pools = [[term for one in self._real for term in getattr(one, name)] for name in ("words", "bigrams")]

    def draw(self) -> PassageTerms:
        """Make the terms of one passage."""
        real = self._real[int(self._rng.integers(len(self._real)))]
        words, bigrams = (
            self._mix(counts, pool) for counts, pool in zip((real.words, real.bigrams), self._pools, strict=True)
        )
        return PassageTerms(words=words, bigrams=bigrams)

    def _mix(self, counts: Counter[str], pool: list[str]) -> Counter[str]:
        keep = self._rng.random(len(counts)) < KEPT
        mixed = Counter({term: tf for (term, tf), kept in zip(counts.items(), keep.tolist(), strict=True) if kept})
        drawn = self._rng.integers(len(pool), size=len(counts) - len(mixed)).tolist()
        renamed = (self._rng.random(len(drawn)) < RENAMED).tolist()
        for place, is_rare in zip(drawn, renamed, strict=True):
            mixed[f"{pool[place]}{int(self._rng.integers(100_000))}" if is_rare else pool[place]] += 1
        return mixed


def make_chunks(count: int, embedding_set: EmbeddingSet, content: str) -> list[int]:
    """Make documents of ``CHUNKS_PER_DOCUMENT`` chunks; their metadata say in which shares they are. Gives the keys."""
    collection, _made = Collection.objects.get_or_create(slug="benchmark", defaults={"name": "benchmark"})
    DocumentType.objects.get_or_create(code="other", defaults={"name_ja": "その他", "name_en": "Other"})
    blob, _made = Blob.objects.get_or_create(sha256="0" * 64, defaults={"size_bytes": 0})
    number = -(-count // CHUNKS_PER_DOCUMENT)
    documents = Document.objects.bulk_create(
        Document(collection=collection, path=f"{n}.md", title=f"{n}", metadata=_shares(n)) for n in range(number)
    )
    versions = DocumentVersion.objects.bulk_create(
        DocumentVersion(document=one, number=1, blob=blob, filename=one.path, policy=embedding_set.policy)
        for one in documents
    )
    for document, version in zip(documents, versions, strict=True):
        document.current_version = version
    Document.objects.bulk_update(documents, ["current_version"], batch_size=1000)
    with connection.cursor() as cursor:
        with cursor.copy(_COPY_CHUNKS) as copy:
            for n in range(count):
                version, index = versions[n // CHUNKS_PER_DOCUMENT], n % CHUNKS_PER_DOCUMENT
                copy.write_row(
                    (
                        *(f"chk_{n}", version.pk, embedding_set.policy_id, index, content, "", [], 0, len(content)),
                        *(100, False, False, "ja"),
                    )
                )
        cursor.execute("SELECT id FROM knowledge_chunk ORDER BY id")
        return [row[0] for row in cursor.fetchall()]


def _shares(number: int) -> dict[str, bool]:
    return {name: number % every == 0 for name, every in SHARES.items()}


def write_terms(keys: Sequence[int], source: TermSource) -> Iterator[int]:
    """Index the chunks under synthetic terms, in batches; yields how many distinct terms each batch's chunks have."""
    for start in range(0, len(keys), BATCH):
        batch = [
            AnalysedChunk(chunk_id=key, terms=source.draw(), fingerprint=key) for key in keys[start : start + BATCH]
        ]
        store_analysed(batch)
        yield sum(len(one.terms.words) + len(one.terms.bigrams) for one in batch)


class Clusters:
    """Unit vectors around centres of which each has about ``CHUNKS_PER_CLUSTER`` vectors among ``count``."""

    def __init__(self, count: int, dimension: int, rng: np.random.Generator) -> None:
        self._rng = rng
        self._centres = rng.normal(size=(max(count // CHUNKS_PER_CLUSTER, 1), dimension)).astype(np.float32)

    def draw(self, count: int) -> NDArray[np.float32]:
        """Draw vectors: (count, dimension)."""
        vectors: NDArray[np.float32] = self._centres[self._rng.integers(len(self._centres), size=count)]
        vectors += SPREAD * self._rng.standard_normal(size=vectors.shape, dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def copy_vectors(embedding_set: EmbeddingSet, keys: Sequence[int], clusters: Clusters) -> Iterator[int]:
    """Draw and store a vector for each chunk by binary COPY, a batch at a time; yields the size of each."""
    connection.ensure_connection()
    register_vector(connection.connection)
    statement = "COPY knowledge_chunkvector (embedding_set_id, chunk_id, vector) FROM STDIN (FORMAT BINARY)"
    for start in range(0, len(keys), VECTORS_AT_ONCE):
        batch = keys[start : start + VECTORS_AT_ONCE]
        with Cursor(connection.connection) as cursor, cursor.copy(statement) as copy:
            copy.set_types(["int8", "int8", "halfvec"])
            for key, vector in zip(batch, clusters.draw(len(batch)), strict=True):
                copy.write_row((embedding_set.pk, key, HalfVector(vector)))
        yield len(batch)
