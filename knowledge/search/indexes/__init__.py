"""The indexes that a search may ask, behind `knowledge.search.port`, and the choice of one."""

from __future__ import annotations

from knowledge.index.changes import has_engine
from knowledge.models import EmbeddingSet
from knowledge.search.indexes.embedded import EmbeddedIndex
from knowledge.search.indexes.engine import index_in_engine
from knowledge.search.port import SearchIndex


def index_of(embedding_set: EmbeddingSet) -> SearchIndex:
    """Return the index for one search of a set: the generation in the search engine that its row names, if it does."""
    if has_engine() and embedding_set.generation_id is not None:
        return index_in_engine(embedding_set, embedding_set.generation_id)
    return index_in_postgresql(embedding_set)


def index_in_postgresql(embedding_set: EmbeddingSet) -> SearchIndex:
    """Return the index that is in PostgreSQL, which has every passage at once with the transaction that wrote it."""
    return EmbeddedIndex(embedding_set=embedding_set)
