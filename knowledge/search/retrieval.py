"""Retrieval for a check: passages by meaning and words, paths of the graph, and the ontology's view, fused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.database import raising_unavailable
from hub.core.errors import InvalidInput, NotFound, Unavailable
from knowledge.documents.documents import get_document
from knowledge.graph.reading import keys_of
from knowledge.graph.search import MAX_LIMIT, FoundNode, GraphQuery, GraphResult, graph_search, visible_nodes
from knowledge.graph.walk import Direction
from knowledge.search.hybrid import search
from knowledge.search.pages import find_chunk
from knowledge.types.notices import Notice, notice_of
from knowledge.types.search import Hit, SearchFilter, SearchQuery, SearchResult

T = TypeVar("T")
PASSAGES = 8
STARTS = 4
GRAPH_NODES = 30
MAX_CONTEXT_CHUNKS = 20
# Reciprocal rank fusion: 1 / (60 + rank). Source: Cormack, Clarke, Büttcher, SIGIR 2009, doi:10.1145/1571941.1572114.
RRF = 60
PASSAGES_UNAVAILABLE = notice_of("search", "passages_unavailable")
GRAPH_UNAVAILABLE = notice_of("search", "graph_unavailable")
_NOTHING = SearchResult(hits=(), total_found=0)
# Words that a query may name a thing with: identifiers, quoted titles, runs of letters.
_NAMED = re.compile(
    r"「([^」]{2,80})」|『([^』]{2,80})』|([A-Za-zＡ-Ｚａ-ｚ]{1,8}(?:[-‐－][A-Za-z0-9０-９]+)+)|([\w.]+)"
)


class RetrievalStrategy(StrEnum):
    VECTOR = "vector"
    GRAPH = "graph"
    ONTOLOGY = "ontology"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedSource:
    """A piece of the context: a passage (vector) or a path (graph, ontology). ``relevance`` is from 0 to 1.

    ``reference`` is a chunk's id, or the ids along a path joined by ``>``.
    """

    type: RetrievalStrategy
    reference: str
    relevance: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    strategy: RetrievalStrategy
    context: str
    sources: tuple[RetrievedSource, ...]
    hits: tuple[Hit, ...]
    paths: tuple[tuple[str, ...], ...]
    notices: tuple[Notice, ...] = ()
    walks: tuple[GraphResult, ...] = ()
    """The nodes and edges that ``paths`` are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """What a retrieval went on without, and why."""

    notice: Notice
    error: Unavailable


def retrieve(
    principal: Principal,
    *,
    document_id: str,
    query: str,
    strategy: RetrievalStrategy,
    context_chunks: Sequence[str] = (),
) -> Retrieval:
    """Gather what a document, and the graph around it, say on a query; the best first, cut at the output budget.

    Passages are the document's own. Paths start at what the query names, else at the document. ``context_chunks`` are
    passages of the document that the caller wants in the context in any case. Of passages and paths one answers with a
    notice where the other can't.

    :raises NotFound: the document, or one of the chunks. :raises InvalidInput: names the field.
    :raises Unavailable: nothing that the strategy asks can answer.
    """
    principal.require(Scope.SEARCH)
    document = get_document(principal, document_id, scope=Scope.SEARCH)
    if not query.strip():
        raise InvalidInput(_("{field}: give 1 to {limit} characters."), field="query", limit=10_000)
    given = _given(principal, document_id, context_chunks)
    asked = SearchQuery(text=query, limit=PASSAGES, filter=SearchFilter(document_ids=(document_id,)))
    kind = RetrievalStrategy.ONTOLOGY if strategy is RetrievalStrategy.ONTOLOGY else RetrievalStrategy.GRAPH
    failures: list[_Failure] = []
    result, found = _NOTHING, list[GraphResult]()
    if strategy in (RetrievalStrategy.VECTOR, RetrievalStrategy.HYBRID):
        result = _attempt(lambda: search(principal, asked), PASSAGES_UNAVAILABLE, failures) or _NOTHING
    if strategy is not RetrievalStrategy.VECTOR:
        start = document.public_id
        found = _attempt(lambda: _walks(principal, query, start, kind), GRAPH_UNAVAILABLE, failures) or []
    if len(failures) == (2 if strategy is RetrievalStrategy.HYBRID else 1):
        raise failures[0].error
    lists = [[_passage(hit) for hit in result.hits], _paths(found, kind)]
    ranked = [(1 / (RRF + rank), source) for one in lists for rank, source in enumerate(one, 1)]
    fused = [source for _score, source in sorted(ranked, key=lambda pair: -pair[0])]
    sources = [*(_passage(hit, relevance=1.0) for hit in given), *fused]
    shown = _within_budget(sources)
    return Retrieval(
        strategy=strategy,
        context="\n\n".join(source.text for source in shown),
        sources=tuple(shown),
        hits=(*given, *result.hits),
        paths=tuple(path for one in found for path in one.paths),
        notices=(*(failure.notice for failure in failures), *result.notices),
        walks=tuple(found),
    )


def _attempt(ask: Callable[[], T], notice: Notice, failures: list[_Failure]) -> T | None:
    try:
        return ask()
    except Unavailable as error:
        failures.append(_Failure(notice=notice, error=error))
        return None


def _given(principal: Principal, document_id: str, chunk_ids: Sequence[str]) -> tuple[Hit, ...]:
    if len(chunk_ids) > MAX_CONTEXT_CHUNKS:
        raise InvalidInput(_("{field}: give at most {limit}."), field="context_chunks", limit=MAX_CONTEXT_CHUNKS)
    hits = tuple(find_chunk(principal, chunk_id) for chunk_id in chunk_ids)
    for hit in hits:
        if hit.document_id != document_id:
            raise NotFound(
                _('The document has no passage "{chunk_id}".'), code="chunk_not_found", chunk_id=hit.chunk_id
            )
    return hits


def _passage(hit: Hit, *, relevance: float | None = None) -> RetrievedSource:
    place = " › ".join(hit.section_path)
    return RetrievedSource(
        type=RetrievalStrategy.VECTOR,
        reference=hit.chunk_id,
        relevance=hit.score or 0.0 if relevance is None else relevance,
        text=f"[{hit.document_path}{' ' + place if place else ''}]\n{hit.content}",
    )


def _walks(principal: Principal, query: str, document_id: str, kind: RetrievalStrategy) -> list[GraphResult]:
    """The surroundings of what the query names; of the document where it names nothing, or for the ontology's view.

    :raises Unavailable: the graph can't be read.
    """
    results = []
    with raising_unavailable("a walk in the graph"), transaction.atomic():
        named = [] if kind is RetrievalStrategy.ONTOLOGY else _named(principal, query)
        for entity in named or [document_id]:
            if kind is RetrievalStrategy.ONTOLOGY:
                # From the document over its sections to the concepts that their headings name.
                relations = ("HAS_SECTION", "CATEGORIZED_BY", "DEFINES")
                asked = GraphQuery(
                    entity=entity, relation_types=relations, direction=Direction.OUT, max_depth=2, limit=MAX_LIMIT
                )
            else:
                asked = GraphQuery(entity=entity, max_depth=2, limit=GRAPH_NODES)
            try:
                results.append(graph_search(principal, asked))
            except NotFound:  # the document is not in the graph yet
                continue
    return results


def _named(principal: Principal, query: str) -> list[str]:
    """The ids of nodes that the query names exactly, in its order; sections are named too often to start from."""
    words = [next(part for part in match.groups() if part) for match in _NAMED.finditer(query)]
    keys = keys_of([query, *words])
    rows = visible_nodes(principal).filter(keys__overlap=keys).exclude(type="Section").values_list("public_id", "keys")
    order = {key: place for place, key in enumerate(keys)}
    found = sorted((min(order[key] for key in held if key in order), public_id) for public_id, held in rows)
    return [public_id for _place, public_id in found[:STARTS]]


def _paths(results: Iterable[GraphResult], kind: RetrievalStrategy) -> list[RetrievedSource]:
    """Each path as a line (A -REFERENCES-> B), the shortest first; the relevance halves with every further step."""
    lines: dict[str, RetrievedSource] = {}
    for result in results:
        names = {node.id: node for node in result.nodes}
        relations = {(edge.source, edge.target): edge.type for edge in result.edges}
        for path in result.paths:
            reference = ">".join(path)
            if kind is RetrievalStrategy.ONTOLOGY and names[path[-1]].type != "Concept":
                continue
            if reference not in lines and all(step in names for step in path):
                lines[reference] = RetrievedSource(
                    type=kind,
                    reference=reference,
                    relevance=2.0 ** (2 - len(path)),
                    text=_line([names[step] for step in path], relations),
                )
    return sorted(lines.values(), key=lambda source: -source.relevance)


def _line(nodes: Sequence[FoundNode], relations: dict[tuple[str, str], str]) -> str:
    words = [_called(nodes[0])]
    for before, after in pairwise(nodes):
        forward, backward = relations.get((before.id, after.id)), relations.get((after.id, before.id))
        words += [f"-[{forward}]->" if forward else f"<-[{backward}]-", _called(after)]
    return " ".join(words)


def _called(node: FoundNode) -> str:
    label = node.properties.get("label")
    return f"{node.type}「{node.name}{' ' + str(label) if label else ''}」"


def _within_budget(sources: Sequence[RetrievedSource]) -> list[RetrievedSource]:
    budget: int = settings.CONFIG.hub_output_budget_chars
    kept: list[RetrievedSource] = []
    for source in sources:
        budget -= len(source.text)
        if budget < 0 and kept:
            break
        kept.append(source)
    return kept
