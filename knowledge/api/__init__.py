"""REST calls about documents, collections, search. Each handler translates, makes one call, translates back."""

from __future__ import annotations

from ninja import Router

from knowledge.api import (
    batches,
    collections,
    documents,
    embedding_sets,
    graph,
    guidelines,
    ontologies,
    search,
    sources,
)

router = Router(tags=["knowledge"])
for part in (documents, batches, collections, search, sources, embedding_sets, guidelines, ontologies, graph):
    router.add_router("", part.router)
