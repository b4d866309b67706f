"""What every store can do, and own postings as the product has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray
from psycopg import Cursor

from benchmarks.lexical.corpus import Batch, Corpus
from hub.access.principals import Principal
from knowledge.index.analysis import ANALYSIS_EDITION, QueryTerms
from knowledge.index.postings import AnalysedChunk, delete_postings, recount_statistics, store_analysed
from knowledge.index.segments import MAX_LENGTH, MAX_TF, POSTING, TermPostings, write_segment
from knowledge.models import EmbeddingSet
from knowledge.search.indexes import index_in_postgresql
from knowledge.search.lexical import lexical_hits
from knowledge.search.reach import reach_of
from knowledge.search.recall import LEG_DEPTH
from knowledge.search.scope import PermittedChunks, permitted_chunks
from knowledge.search.weighing import weigh_terms
from knowledge.types.search import SearchFilter

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document's passages with their terms, in the place of those that it had."""

    version_id: int
    collection_id: int
    chunks: Sequence[AnalysedChunk]


class Store(Protocol):
    name: str

    def add(self, batch: Batch, corpus: Corpus) -> None:
        """Load a batch in bulk."""

    def finish(self, corpus: Corpus) -> None:
        """Do what is done once after all batches."""

    def ask(self, terms: QueryTerms, principal: Principal) -> Numbers:
        """Return the numbers of the best ``LEG_DEPTH`` permitted passages, the best first."""

    def delete(self, document: NewDocument) -> None:
        """Take a document's passages out, so that no later search finds them."""

    def write(self, document: NewDocument) -> None:
        """Index a document's passages, so that every later search finds them."""

    def settle(self) -> None:
        """Do what writing has left for later."""

    def sizes_mib(self) -> dict[str, float]: ...


def permitted_to(principal: Principal, embedding_set: EmbeddingSet) -> PermittedChunks:
    return permitted_chunks(reach_of(principal), SearchFilter(), embedding_set, for_words=True)


def table_sizes_mib(names: Sequence[str]) -> dict[str, float]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, pg_total_relation_size(name::regclass) / 1048576.0 FROM unnest(%s::text[]) AS g (name)",
            [list(names)],
        )
        return {name: float(size) for name, size in cursor.fetchall()}


_COPY_TERMS = "COPY knowledge_lexicalterm (id, field, text) FROM STDIN (FORMAT BINARY)"
_COPY_ENTRIES = """
COPY knowledge_lexicalentry (ordinal, chunk_id, policy_id, words_length, bigrams_length, fingerprint, analysis)
FROM STDIN (FORMAT BINARY)
"""


class OwnPostings:
    """Packed postings in rows of PostgreSQL, summed in this process: the product's own code."""

    name = "own postings"

    def __init__(self, embedding_set: EmbeddingSet, keys: Sequence[int]) -> None:
        self._set, self._keys = embedding_set, keys

    def add(self, batch: Batch, corpus: Corpus) -> None:
        """Write the segment that merging would leave."""
        with transaction.atomic(), Cursor(connection.connection) as cursor:
            with cursor.copy(_COPY_TERMS) as copy:
                copy.set_types(["int8", "int2", "varchar"])
                for row in batch.new_terms:
                    copy.write_row(row)
            words, bigrams = (one.lengths.tolist() for one in batch.fields)
            with cursor.copy(_COPY_ENTRIES) as copy:
                copy.set_types(["int4", "int8", "int8", "int4", "int4", "int8", "int2"])
                for place in range(batch.size):
                    number = batch.first + place
                    key = self._keys[number - 1]
                    lengths = words[place], bigrams[place]
                    copy.write_row((number, key, self._set.policy_id, *lengths, key, ANALYSIS_EDITION))
            numbers = list(range(batch.first, batch.first + batch.size))
            write_segment(self._set.policy_id, numbers, _packed(batch))

    def finish(self, corpus: Corpus) -> None:
        with connection.cursor() as cursor:
            for table, key in (("knowledge_lexicalterm", "id"), ("knowledge_lexicalentry", "ordinal")):
                cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', '{key}'), max({key})) FROM {table}")  # noqa: S608 - constants
        recount_statistics()

    def ask(self, terms: QueryTerms, principal: Principal) -> Numbers:
        permitted = permitted_to(principal, self._set)
        weighed = weigh_terms(terms, self._set, visible=permitted.visible)
        hits = lexical_hits(
            index_in_postgresql(self._set).sum_terms(weighed, permitted, limit=LEG_DEPTH), permitted, self._set
        )
        return hits.candidates.ordinals[np.argsort(hits.ranks)]

    def delete(self, document: NewDocument) -> None:
        delete_postings([one.chunk_id for one in document.chunks])

    def write(self, document: NewDocument) -> None:
        store_analysed(document.chunks)

    def settle(self) -> None:
        """Nothing: merging is measured where ordinary batches build the index (benchmarks.search scale)."""

    def sizes_mib(self) -> dict[str, float]:
        tables = ("posting", "segment", "entry", "term")
        return table_sizes_mib([f"knowledge_lexical{name}" for name in tables])


def _packed(batch: Batch) -> TermPostings:
    postings = np.empty(sum(one.term_ids.size for one in batch.fields), POSTING)
    postings["ordinal"] = batch.first + np.concatenate([one.places for one in batch.fields])
    postings["tf"] = np.minimum(np.concatenate([one.tfs for one in batch.fields]), MAX_TF)
    lengths = np.concatenate([one.lengths[one.places] for one in batch.fields])
    postings["length"] = np.minimum(lengths, MAX_LENGTH)
    return TermPostings(term_ids=np.concatenate([one.term_ids for one in batch.fields]), postings=postings)
