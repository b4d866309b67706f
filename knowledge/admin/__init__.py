"""The knowledge app in the admin: one subject per module."""

from knowledge.admin import (
    chunks,
    collections,
    documents,
    embedding_sets,
    graph_pages,
    graph_records,
    graph_types,
    guidelines,
    ontology,
    ontology_entries,
    records,
    retention_page,
    saved_queries,
    search_page,
    sources,
)

__all__ = [
    "chunks",
    "collections",
    "documents",
    "embedding_sets",
    "graph_pages",
    "graph_records",
    "graph_types",
    "guidelines",
    "ontology",
    "ontology_entries",
    "records",
    "retention_page",
    "saved_queries",
    "search_page",
    "sources",
]
