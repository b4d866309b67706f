"""The indexes that a search may ask, behind `knowledge.search.port`, and the choice of one."""

from __future__ import annotations

from knowledge.models import EmbeddingSet
from knowledge.search.indexes.embedded import EmbeddedIndex
from knowledge.search.port import SearchIndex


def index_of(embedding_set: EmbeddingSet) -> SearchIndex:
    """Return the index that searches of a set ask."""
    return index_in_postgresql(embedding_set)


def index_in_postgresql(embedding_set: EmbeddingSet) -> SearchIndex:
    """Return the index that is in PostgreSQL, which has every passage at once with the transaction that wrote it."""
    return EmbeddedIndex(embedding_set=embedding_set)
