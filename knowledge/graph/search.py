"""From what a person calls a thing to the nodes that are meant, and from these to what is around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import InvalidInput, NotFound
from hub.core.replicas import ask_replica
from knowledge.graph.emptiness import relations_in_use
from knowledge.graph.reading import name_key
from knowledge.graph.walk import Direction, Walk, edges_among, walk_levels
from knowledge.models import Document, EdgeType, GraphContribution, GraphNode, NodeType
from knowledge.models.graph import GraphNodeQuerySet
from knowledge.text.folding import normalise
from knowledge.types.notices import Notice

MAX_STARTS = 5
MAX_ENTITY = 500
_SIMILAR_ENOUGH = 0.45
_FUZZY_CANDIDATES = 2000
_FUZZY_PARTS = 12
_NUMBER = re.compile(r"\d+")
_OWN_FIRST = (F("collection").asc(nulls_last=True), "pk")
MAX_DEPTH = 5
MAX_LIMIT = 500


def visible_nodes(principal: Principal, collection: str = "") -> GraphNodeQuerySet:
    """The nodes that the caller may search; with a collection's slug, its own and the masters'."""
    visible = GraphNode.objects.visible_to(principal, Scope.SEARCH)
    if not collection:
        return visible
    return visible.filter(Q(collection__isnull=True) | Q(collection__slug=collection))


def _spoken_of(document: int) -> QuerySet[GraphContribution, int | None]:
    """The keys of the nodes that a document speaks of."""
    return GraphContribution.objects.filter(document=document).values_list("node", flat=True)


def find_entities(principal: Principal, entity: str, *, collection: str = "", document: int | None = None) -> list[int]:
    """Find the nodes that an entity names: by id, else by name, code or alias, else by similar names.

    At most five: the masters' last, otherwise in the order in which they came (similar ones: the most similar first).
    With ``document``, a document's key, only those that it speaks of.

    :raises NotFound: there is none that the caller may see. :raises InvalidInput: empty, or too long.
    """
    wanted = entity.strip()
    key = name_key(wanted)
    if not key or len(wanted) > MAX_ENTITY or "\x00" in wanted:
        raise InvalidInput(_("{field}: give 1 to {limit} characters."), field="entity", limit=MAX_ENTITY)
    visible = visible_nodes(principal, collection)
    if document is not None:
        visible = visible.filter(pk__in=_spoken_of(document))
    exact = list(visible.filter(public_id=wanted).values_list("pk", flat=True))
    named = exact or list(
        visible.filter(keys__contains=[key]).order_by(*_OWN_FIRST).values_list("pk", flat=True)[:MAX_STARTS]
    )
    found = named or _similar(visible, key)
    if not found:
        raise NotFound(
            _('Nothing in the graph is called "{entity}", or nearly so.'), code="entity_not_found", entity=wanted
        )
    return found


def _similar(visible: GraphNodeQuerySet, key: str) -> list[int]:
    """The nodes whose name holds the words, or shares most pairs of letters with them."""
    parts = sorted({key, *key.split(), *_pairs(key)} - {""}, key=lambda one: (-len(one), one))
    named = Q()
    for part in parts[:_FUZZY_PARTS]:
        named |= Q(name__icontains=part) | Q(code__icontains=part)
    rows = visible.filter(named).order_by("pk").values_list("pk", "keys")[:_FUZZY_CANDIDATES]
    scored = ((max((similarity(key, other) for other in keys), default=0.0), pk) for pk, keys in rows)
    best = sorted((-score, pk) for score, pk in scored if score >= _SIMILAR_ENOUGH)
    return [pk for _score, pk in best[:MAX_STARTS]]


def similarity(one: str, other: str) -> float:
    """Tell how alike two keys are, 0 to 1: Dice's coefficient of their letter pairs, more if one holds the other.

    What is numbered otherwise is another thing, however alike: REQ-901 is not REQ-902.
    Source: Dice (1945), doi:10.2307/1932409.
    """
    if one == other:
        return 1.0
    pairs, others = _pairs(one), _pairs(other)
    if not pairs or not others or _are_numbered_otherwise(one, other):
        return 0.0
    dice = 2 * len(pairs & others) / (len(pairs) + len(others))
    if one not in other and other not in one:
        return dice
    return max(dice, 0.5 + 0.5 * min(len(one), len(other)) / max(len(one), len(other)))


def _are_numbered_otherwise(one: str, other: str) -> bool:
    numbers, others = ({number.lstrip("0") for number in _NUMBER.findall(key)} for key in (one, other))
    return not (numbers <= others or others <= numbers)


def _pairs(key: str) -> set[str]:
    letters = "".join(char for char in normalise(key) if not char.isspace())
    return {letters[index : index + 2] for index in range(len(letters) - 1)}


class Traversal(StrEnum):
    BFS = "bfs"
    DFS = "dfs"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQuery:
    """Where to start and how far to go. ``relation_types`` and ``node_types`` are codes or names; empty means any."""

    entity: str
    relation_types: tuple[str, ...] = ()
    node_types: tuple[str, ...] = ()
    direction: Direction = Direction.BOTH
    traversal: Traversal = Traversal.BFS
    max_depth: int = 2
    limit: int = 50
    collection: str = ""
    document_id: str = ""
    """Only what this document speaks of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNode:
    """A node as callers see it. ``depth`` counts edges from the start."""

    id: str
    type: str
    name: str
    code: str
    depth: int
    properties: dict[str, Any]
    collection: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEdge:
    source: str
    target: str
    type: str
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphResult:
    """Nodes in the order of the walk, the starts first; all edges among them; a shortest path to each found node."""

    nodes: tuple[FoundNode, ...]
    edges: tuple[FoundEdge, ...]
    paths: tuple[tuple[str, ...], ...]
    starts: tuple[str, ...]
    nodes_visited: int
    max_depth_reached: int
    is_complete: bool
    notices: tuple[Notice, ...] = ()
    """Why there is nothing around the starts."""


def graph_search(principal: Principal, query: GraphQuery) -> GraphResult:
    """Walk from the entity and give what is around it: one query per level, and a number that does not grow.

    The entity is a node's id, or its name, code or alias; where none is that exactly, the most similar names. ``bfs``
    gives the nearest first, ``dfs`` branch by branch; equals come in the order in which they came into the graph. The
    walk ends when ``limit`` nodes are found (bfs) or MAX_VISITED were looked at; ``is_complete`` is False then.

    With ``document_id`` the nodes and edges are those that this document speaks of. Where nothing is around the starts,
    a notice says which relations there are.

    :raises Forbidden: the scope search is missing. :raises InvalidInput: names the field.
    :raises NotFound: nothing visible has this name or a similar one; the document is not there.
    """
    principal.require(Scope.SEARCH)
    _check(query)
    walk = partial(_walk, principal, query)
    walked = ask_replica(walk, reader=principal.user_id)
    if walked is None or not _still_holds(principal, query, walked):
        walked = walk()
    found = _result(principal, query, walked)
    if found.edges or len(found.nodes) > len(walked.starts):
        return found
    remark = relations_in_use(principal, walked.starts, walked.relations, walked.document)
    return replace(found, notices=(remark,))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walked:
    """A walk, and what its query's names stand for."""

    starts: list[int]
    relations: list[str]
    types: list[str]
    document: int | None
    walk: Walk


def _walk(principal: Principal, query: GraphQuery) -> _Walked:
    relations = type_codes(EdgeType, query.relation_types, field="relation_type")
    types = type_codes(NodeType, query.node_types, field="node_type")
    document = _find_document(principal, query.document_id) if query.document_id else None
    starts = find_entities(principal, query.entity, collection=query.collection, document=document)
    walk = walk_levels(
        principal,
        starts,
        direction=query.direction,
        relations=relations,
        max_depth=query.max_depth,
        collection=query.collection,
        document=document,
        enough=query.limit if query.traversal is Traversal.BFS and not types else None,
    )
    return _Walked(starts=starts, relations=relations, types=types, document=document, walk=walk)


def _still_holds(principal: Principal, query: GraphQuery, walked: _Walked) -> bool:
    """Ask the primary whether all nodes that a replica walked to, and the edges walked along, may be seen, and the
    document that they are spoken of in. Two queries, three with a document.

    What they say is read from the primary afterwards.
    """
    nodes, walk = list(walked.walk.depth), walked.walk
    visible = visible_nodes(principal, query.collection).filter(pk__in=nodes)
    if walked.document is not None:
        if not _searchable(principal, query.document_id).filter(pk=walked.document).exists():
            return False
        visible = visible.filter(pk__in=_spoken_of(walked.document))
    if visible.count() != len(nodes):
        return False
    edges = edges_among(principal, nodes, walked.relations, walked.document)
    joined = {frozenset((edge.source, edge.target)) for edge in edges}
    return all(frozenset(step) in joined for step in walk.parent.items())


def _find_document(principal: Principal, document_id: str) -> int:
    """The key of a document that the caller may search. Raises NotFound."""
    found = _searchable(principal, document_id).values_list("pk", flat=True).first()
    if found is None:
        raise NotFound(_('There is no document "{document_id}".'), code="document_not_found", document_id=document_id)
    return found


def _searchable(principal: Principal, document_id: str) -> QuerySet[Document]:
    """The document of an id, if the caller may search it."""
    return Document.objects.visible_to(principal, Scope.SEARCH).filter(public_id=document_id)


def _check(query: GraphQuery) -> None:
    for name, value, highest in (("max_depth", query.max_depth, MAX_DEPTH), ("limit", query.limit, MAX_LIMIT)):
        if not 1 <= value <= highest:
            raise InvalidInput(_("{field}: give 1 to {limit}."), field=name, limit=highest)


def type_codes(model: type[EdgeType] | type[NodeType], given: Sequence[str], *, field: str) -> list[str]:
    """Give the codes for codes and names (要件, TRACES_TO, 追跡). Raises InvalidInput naming the known ones."""
    if not given:
        return []
    known: dict[str, str] = {}
    for row in model.objects.order_by("code"):
        for name in (row.code, row.name_ja, row.name_en, *getattr(row, "aliases", ())):
            known.setdefault(name_key(name), row.code)
    unknown = [name for name in given if name_key(name) not in known]
    if unknown:
        raise InvalidInput(
            _('{field}: there is no type "{given}". Known: {known}.'),
            code="unknown_graph_type",
            field=field,
            given=unknown[0],
            known=", ".join(sorted(set(known.values()))),
        )
    return [known[name_key(name)] for name in given]


def _result(principal: Principal, query: GraphQuery, walked: _Walked) -> GraphResult:
    """Read from the primary what is shown of a walk."""
    walk, starts = walked.walk, walked.starts
    order = list(walk.depth) if query.traversal is Traversal.BFS else walk.depth_first(starts)
    shown = _shown(principal, walk, order, query, starts=starts, types=walked.types)
    ids = {pk: node.id for pk, node in shown.items()}
    passed = {step for pk in shown for step in walk.path(pk)} - set(shown)  # nodes on the way that are not shown
    ids |= dict(GraphNode.objects.filter(pk__in=passed).values_list("pk", "public_id")) if passed else {}
    return GraphResult(
        nodes=tuple(shown.values()),
        edges=tuple(
            FoundEdge(source=ids[edge.source], target=ids[edge.target], type=edge.type, properties=edge.properties)
            for edge in edges_among(principal, list(shown), walked.relations, walked.document)
        ),
        paths=tuple(tuple(ids[step] for step in walk.path(pk)) for pk in shown if walk.depth[pk] > 0),
        starts=tuple(ids[pk] for pk in starts if pk in ids),
        nodes_visited=len(walk.depth),
        max_depth_reached=max(walk.depth.values(), default=0),
        is_complete=walk.is_complete and len(shown) >= len(order),
    )


def _shown(
    principal: Principal,
    walk: Walk,
    order: Sequence[int],
    query: GraphQuery,
    *,
    starts: Sequence[int],
    types: Sequence[str],
) -> dict[int, FoundNode]:
    """The nodes to show, in the walk's order: the first ``limit`` of the wanted types, the starts always."""
    visible = visible_nodes(principal, query.collection)
    rows = visible.filter(pk__in=order if types else order[: query.limit])
    if types:
        rows = rows.filter(type__in=types) | visible.filter(pk__in=starts)
    found = {
        pk: FoundNode(
            id=public_id,
            type=node_type,
            name=name,
            code=code,
            depth=walk.depth[pk],
            properties={**properties, "name": name, "code": code},
            collection=collection,
        )
        for pk, public_id, node_type, name, code, properties, collection in rows.values_list(
            "pk", "public_id", "type_id", "name", "code", "properties", "collection__slug"
        )
    }
    return {pk: found[pk] for pk in [pk for pk in order if pk in found][: query.limit]}
