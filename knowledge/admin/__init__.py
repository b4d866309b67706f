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
