"""What is retrieved for one check of one document, by a strategy: passages, paths of the graph, concepts.

What can't be read has a notice, and the rest goes on: without the graph passages alone, without the ontology neither
concepts nor a verdict that would rest on them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from django.db import Error, transaction

from hub.access.principals import Principal
from hub.core.database import is_connection_lost, raising_unavailable
from hub.core.errors import Forbidden, NotFound, Unavailable
from knowledge.graph.links import find_meetings, find_paths, in_words
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PathLine:
    """A path in words, and the ids of the related documents that it leads through."""

    text: str
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """What was retrieved: ``lines`` are the paths in words that lead through a document of the review (one through
    masters alone says nothing about it), ``sections`` where they lead in documents.

    A section is its document's id, and where it begins and ends there.
    """

    consultation: Consultation
    lines: tuple[PathLine, ...] = ()
    sections: tuple[tuple[str, int, int], ...] = ()


def consult(
    principal: Principal,
    *,
    document_id: str,
    related: Sequence[str],
    query: str,
    strategy: RetrievalStrategy,
    instead: RetrievalStrategy | None = None,
) -> Retrieved:
    """Retrieve for a check by a strategy, or by the one ``instead``, with a notice for what did not answer.

    Paths lead only through the reviewed document, the related ones, and masters.
    """
    failed: list[Notice] = []
    for attempt in filter(None, (strategy, instead)):
        try:
            found = retrieve(principal, document_id=document_id, query=query, strategy=attempt)
        except (NotFound, Forbidden):
            return Retrieved(consultation=Consultation(notices=(notices.NOT_SEARCHABLE,)))
        except Unavailable as error:
            require_connection(error)
            failed.append(notices.RETRIEVAL_UNAVAILABLE[attempt])
            continue
        return _retrieved(found, document_id, related, failed)
    return Retrieved(consultation=Consultation(notices=tuple(failed)))


def _retrieved(found: Retrieval, document_id: str, related: Sequence[str], failed: Sequence[Notice]) -> Retrieved:
    documents = {document_id, *related}
    is_ontology = found.strategy is RetrievalStrategy.ONTOLOGY
    own = (path for walk in found.walks for path in _paths(walk, documents, to_concepts=is_ontology))
    paths = tuple(dict.fromkeys(own))[:MAX_PATHS]
    nodes = {node.id: node for walk in found.walks for node in walk.nodes}
    passed = [nodes[step] for step in dict.fromkeys(step for path in paths for step in path.nodes)]
    unanswered = {_WITHOUT[notice.code] for notice in found.notices if notice.code in _WITHOUT}
    sources = [source for source in (Consulted.VECTOR, Consulted.LEXICAL) if found.hits and source not in unanswered]
    if found.walks:
        sources.append(Consulted.ONTOLOGY if is_ontology else Consulted.GRAPH)
    said = [notice for notice in found.notices if notice.code in SERIOUS]
    lines = {source.reference: source.text for source in found.sources}
    return Retrieved(
        consultation=Consultation(
            consulted=tuple(sources),
            chunks=tuple((hit.chunk_id, "") for hit in found.hits),
            paths=paths,
            concepts=tuple(node.code for node in passed if node.type == "Concept" and node.code),
            notices=(*failed, *said),
        ),
        lines=tuple(
            PathLine(
                text=text,
                documents=tuple(
                    other
                    for other in related
                    if any(_document_of(step, nodes[step].properties) == other for step in path.nodes)
                ),
            )
            for path in paths
            if any(_document_of(step, nodes[step].properties) in documents for step in path.nodes)
            and (text := lines.get(">".join(path.nodes)))
        ),
        sections=tuple(
            (node.properties["document_id"], node.properties["start_offset"], node.properties["end_offset"])
            for node in passed
            if node.type == "Section" and "end_offset" in node.properties
        ),
    )


def _paths(walk: GraphResult, documents: Collection[str], *, to_concepts: bool) -> Iterator[GraphPath]:
    """The walk's paths through parts of the documents, masters, and what those parts name."""
    nodes = {node.id: node for node in walk.nodes}
    edges = [(edge.source, edge.type, edge.target) for edge in walk.edges]
    parts = {
        node.id for node in walk.nodes if node.type in _PARTS and _document_of(node.id, node.properties) in documents
    }
    masters = {node.id for node in walk.nodes if node.collection is None}
    named = {target for source, _type, target in edges if source in parts and nodes[target].type not in _PARTS}
    for steps in walk.paths:
        is_own = parts.union(masters, named).issuperset(steps)
        path = GraphPath.through(steps, edges) if is_own else None
        if path is not None and (not to_concepts or nodes[steps[-1]].type == "Concept"):
            yield path


def _document_of(node_id: str, properties: dict[str, object]) -> object:
    return properties.get("document_id", node_id)


def meeting_paths(document_id: str, related: Sequence[str]) -> Retrieved:
    """Find the paths to what a document and its related ones both name. No permission is asked.

    :raises django.db.Error: the connection is lost.
    """
    if not related:
        return Retrieved(consultation=Consultation())
    try:
        with raising_unavailable("the paths between documents"), transaction.atomic():
            paths = find_meetings(document_id, related)
            texts = in_words(paths)
    except Unavailable as error:
        require_connection(error)
        return Retrieved(consultation=Consultation(notices=(notices.RETRIEVAL_UNAVAILABLE[RetrievalStrategy.GRAPH],)))
    lines = tuple(
        PathLine(text=text, documents=tuple(other for other in related if other in path.nodes))
        for path, text in zip(paths, texts, strict=True)
    )
    return Retrieved(consultation=Consultation(consulted=(Consulted.GRAPH,) * bool(paths), paths=paths), lines=lines)


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
