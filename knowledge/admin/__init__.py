"""The knowledge app in the admin: one subject per module."""

from knowledge.admin import (
    chunks,
    collections,
    documents,
    embedding_sets,
    graph,
    graph_pages,
    guidelines,
    ontology,
    ontology_entries,
    records,
    saved_queries,
    search_page,
    sources,
)

__all__ = ["chunks", "collections", "documents", "embedding_sets", "graph", "graph_pages", "guidelines", "ontology"]
__all__ += ["ontology_entries", "records", "saved_queries", "search_page", "sources"]
