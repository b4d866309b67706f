"""REST calls about documents, collections, search. Each handler translates, makes one call, translates back."""

from __future__ import annotations

from ninja import Router

from knowledge.api.answers import router as answers_router
from knowledge.api.collections import router as collections_router
from knowledge.api.documents import router as documents_router
from knowledge.api.embedding_sets import router as embedding_sets_router
from knowledge.api.grants import router as grants_router
from knowledge.api.graph import router as graph_router
from knowledge.api.guidelines import router as guidelines_router
from knowledge.api.ontologies import router as ontologies_router
from knowledge.api.retries import router as retries_router
from knowledge.api.search import router as search_router
from knowledge.api.sources import router as sources_router

router = Router(tags=["knowledge"])
routers = (
    retries_router,  # its fixed address comes before those with a document's id
    documents_router,
    collections_router,
    grants_router,
    search_router,
    answers_router,
    sources_router,
    embedding_sets_router,
    guidelines_router,
    ontologies_router,
    graph_router,
)
for part in routers:
    router.add_router("", part)
