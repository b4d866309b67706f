"""What is retrieved for one check of one document, by a strategy: passages, paths of the graph, concepts.

What can't be read has a notice, and the rest goes on: without the graph passages alone, without the ontology neither
concepts nor a verdict that would rest on them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from django.db import Error, transaction

from hub.access.principals import Principal
from hub.core.database import is_connection_lost, raising_unavailable
from hub.core.errors import NotFound, Unavailable
from knowledge.graph.links import find_paths
from knowledge.graph.search import GraphResult
from knowledge.search import Retrieval, RetrievalStrategy, retrieve
from knowledge.types.graph import GraphPath
from knowledge.types.notices import Notice
from review.judging import notices
from review.judging.types import Consultation
from review.models import Strategy
from review.types import Consulted

STRATEGY_OF: dict[str, RetrievalStrategy] = {
    Strategy.VECTOR_RAG: RetrievalStrategy.VECTOR,
    Strategy.GRAPH_RAG: RetrievalStrategy.GRAPH,
    Strategy.ONTOLOGY: RetrievalStrategy.ONTOLOGY,
    Strategy.HYBRID: RetrievalStrategy.HYBRID,
}
MAX_PATHS = 30
_WITHOUT = {"vector_unavailable": Consulted.VECTOR, "lexical_unavailable": Consulted.LEXICAL}
# Of what a search remarks, what says that a source did not answer.
SERIOUS = frozenset({*_WITHOUT, "graph_unavailable", "passages_unavailable", "synonyms_unavailable"})
_PARTS = frozenset({"Document", "Section", "Figure", "Table"})


def consult(
    principal: Principal, *, document_id: str, related: Sequence[str], query: str, strategy: RetrievalStrategy
) -> Consultation:
    """Retrieve for a check by a strategy, with a notice for what did not answer.

    Paths lead only through the reviewed document, the related ones, and masters.
    """
    failed: list[Notice] = []
    for attempt in _attempts(strategy):
        try:
            found = retrieve(principal, document_id=document_id, query=query, strategy=attempt)
        except NotFound:
            return Consultation(notices=(notices.NOT_SEARCHABLE,))
        except Unavailable:
            failed.append(notices.RETRIEVAL_UNAVAILABLE[attempt])
            continue
        got = _consultation(found, {document_id, *related})
        return replace(got, notices=(*failed, *got.notices))
    return Consultation(notices=tuple(failed))


def _attempts(strategy: RetrievalStrategy) -> tuple[RetrievalStrategy, ...]:
    """A strategy, and what stands in for it."""
    if strategy is RetrievalStrategy.GRAPH:
        return (strategy, RetrievalStrategy.VECTOR)
    return (strategy,)


def _consultation(found: Retrieval, documents: Collection[str]) -> Consultation:
    paths = tuple(dict.fromkeys(path for walk in found.walks for path in _paths(walk, documents)))[:MAX_PATHS]
    kept = {node for path in paths for node in path.nodes}
    concepts = [node.code for walk in found.walks for node in walk.nodes if node.type == "Concept" and node.id in kept]
    answered = {_WITHOUT[notice.code] for notice in found.notices if notice.code in _WITHOUT}
    sources = [source for source in (Consulted.VECTOR, Consulted.LEXICAL) if found.hits and source not in answered]
    if found.walks:
        is_ontology = found.strategy is RetrievalStrategy.ONTOLOGY
        sources.append(Consulted.ONTOLOGY if is_ontology else Consulted.GRAPH)
    return Consultation(
        consulted=tuple(sources),
        chunks=tuple((hit.chunk_id, "") for hit in found.hits),
        paths=paths,
        concepts=tuple(dict.fromkeys(filter(None, concepts))),
        notices=tuple(notice for notice in found.notices if notice.code in SERIOUS),
    )


def _paths(walk: GraphResult, documents: Collection[str]) -> Iterator[GraphPath]:
    nodes = {node.id: node for node in walk.nodes}
    edges = [(edge.source, edge.type, edge.target) for edge in walk.edges]
    for steps in walk.paths:
        passed = [nodes.get(step) for step in steps]
        is_own = all(
            node is not None and (node.type not in _PARTS or _document_of(node.id, node.properties) in documents)
            for node in passed
        )
        path = GraphPath.through(steps, edges) if is_own else None
        if path is not None:
            yield path


def _document_of(node_id: str, properties: dict[str, object]) -> object:
    return properties.get("document_id", node_id)


def paths_of_links(document_id: str, related: Sequence[str], links: Sequence[str]) -> Consultation:
    """Find the graph's paths for the links that rules went by. No permission is asked; see `knowledge.graph.links`.

    :raises django.db.Error: the connection is lost.
    """
    if not links:
        return Consultation()
    try:
        with raising_unavailable("the paths of a check"), transaction.atomic():
            paths = find_paths(document_id, related, links)
    except Unavailable as error:
        require_connection(error)
        return Consultation(notices=(notices.PATHS_UNAVAILABLE,))
    return Consultation(consulted=(Consulted.GRAPH,) if paths else (), paths=paths)


def require_connection(error: Unavailable) -> None:
    """Raise what made a source unavailable when that was the loss of the connection: then nothing else answers."""
    cause = error.__cause__
    if isinstance(cause, Error) and is_connection_lost(cause):
        raise cause
