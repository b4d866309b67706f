"""Walking along edges in SQL, one query per level, with the caller's permissions inside each."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection

from hub.access.principals import Principal, Scope
from hub.core.routing import read_connection
from knowledge.models import Collection

# The most nodes that one walk looks at.
MAX_VISITED = 20_000


class Direction(StrEnum):
    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(slots=True)
class Walk:
    """The nodes reached, in the order of the walk: each with its depth and the node it was first reached from."""

    depth: dict[int, int] = field(default_factory=dict)
    parent: dict[int, int] = field(default_factory=dict)
    is_complete: bool = True

    def path(self, node: int) -> list[int]:
        """The nodes from a start to this one."""
        steps = [node]
        while (before := self.parent.get(steps[-1])) is not None:
            steps.append(before)
        return steps[::-1]

    def depth_first(self, starts: Sequence[int]) -> list[int]:
        """The same nodes branch by branch; a node is under the one it is nearest to."""
        below: dict[int, list[int]] = defaultdict(list)
        for node, before in self.parent.items():
            below[before].append(node)
        order: list[int] = []
        waiting = list(reversed(starts))
        while waiting:
            node = waiting.pop()
            order.append(node)
            waiting.extend(reversed(below[node]))
        return order


def walk_levels(
    principal: Principal,
    starts: Sequence[int],
    *,
    direction: Direction,
    relations: Sequence[str],
    max_depth: int,
    collection: str = "",
    document: int | None = None,
    enough: int | None = None,
) -> Walk:
    """Go ``max_depth`` levels from ``starts``, or until ``enough`` nodes or MAX_VISITED are reached.

    With ``document``, a document's key, along edges and to nodes that it speaks of.
    """
    walk = Walk(depth=dict.fromkeys(starts, 0))
    sql, params = _step(principal, direction, relations, collection, document)
    frontier = list(starts)
    for level in range(1, max_depth + 1):
        with read_connection().cursor() as cursor:
            given = [frontier if param is _FRONTIER else param for param in params]
            cursor.execute(sql, [*given, MAX_VISITED + len(walk.depth) + 1])
            reached = cursor.fetchall()
        frontier = _take(walk, reached, level)
        if not frontier:
            break
        if len(walk.depth) > MAX_VISITED or (enough is not None and len(walk.depth) >= enough):
            walk.is_complete = False
            break
    return walk


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRow:
    """An edge by the keys of its ends."""

    source: int
    target: int
    type: str
    properties: dict[str, Any]


# Kept of edges and of nodes: what a document speaks of.
_EDGE_OF_DOCUMENT = (
    " AND EXISTS (SELECT 1 FROM knowledge_graphcontribution c WHERE c.edge_id = e.id AND c.document_id = %s) "
)
_NODE_OF_DOCUMENT = (
    " AND EXISTS (SELECT 1 FROM knowledge_graphcontribution c WHERE c.node_id = n.id AND c.document_id = %s) "
)


def edges_among(
    principal: Principal, nodes: Sequence[int], relations: Sequence[str], document: int | None = None
) -> list[EdgeRow]:
    """The visible edges with both ends among visible nodes, in the order in which they came. One query.

    With ``document``, a document's key, those that it speaks of.
    """
    spaces, params = _spaces(principal, "")
    sql = (
        f"WITH spaces AS MATERIALIZED ({spaces}) "  # noqa: S608 - made of our own names; values are parameters
        "SELECT e.source_id, e.target_id, e.type_id, e.properties FROM knowledge_graphedge e "
        "WHERE e.source_id = ANY(%s) AND e.target_id = ANY(%s) AND e.classification <= %s "
        "AND (e.collection_id IS NULL OR e.collection_id IN (SELECT id FROM spaces)) "
        + ("AND e.type_id = ANY(%s) " if relations else "")
        + (_EDGE_OF_DOCUMENT if document is not None else "")
        + "ORDER BY e.id"
    )
    more: list[Any] = [*([list(relations)] if relations else []), *([document] if document is not None else [])]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*params, list(nodes), list(nodes), int(principal.ceiling), *more])
        return [
            EdgeRow(source=source, target=target, type=edge_type, properties=json.loads(properties))
            for source, target, edge_type, properties in cursor.fetchall()
        ]


def _take(walk: Walk, reached: Sequence[tuple[int, int]], level: int) -> list[int]:
    fresh = []
    for node, origin in reached:
        if node not in walk.depth:
            walk.depth[node] = level
            walk.parent[node] = origin
            fresh.append(node)
    return fresh


_FRONTIER = object()


def _step(
    principal: Principal, direction: Direction, relations: Sequence[str], collection: str, document: int | None
) -> tuple[str, list[Any]]:
    """The query for one level: visible neighbours of the frontier, each once, with where it was reached from."""
    spaces, space_params = _spaces(principal, collection)
    of_document = [] if document is None else [document]
    halves, params = [], []
    for wanted, here, there in (
        (Direction.OUT, "source_id", "target_id"),
        (Direction.IN, "target_id", "source_id"),
    ):
        if direction not in (wanted, Direction.BOTH):
            continue
        halves.append(
            f"SELECT e.{there} AS node, e.{here} AS origin, e.collection_id FROM knowledge_graphedge e "  # noqa: S608
            f"WHERE e.{here} = ANY(%s) AND e.classification <= %s"
            + (" AND e.type_id = ANY(%s)" if relations else "")
            + (_EDGE_OF_DOCUMENT if of_document else "")
        )
        params += [_FRONTIER, int(principal.ceiling), *([list(relations)] if relations else []), *of_document]
    sql = (
        f"WITH spaces AS MATERIALIZED ({spaces}) "  # noqa: S608 - made of our own names; values are parameters
        f"SELECT n.id, min(step.origin) FROM ({' UNION ALL '.join(halves)}) step "
        "JOIN knowledge_graphnode n ON n.id = step.node "
        "WHERE n.classification <= %s "
        "AND (n.collection_id IS NULL OR n.collection_id IN (SELECT id FROM spaces)) "
        "AND (step.collection_id IS NULL OR step.collection_id IN (SELECT id FROM spaces)) "
        + (_NODE_OF_DOCUMENT if of_document else "")
        + "GROUP BY n.id ORDER BY n.id LIMIT %s"
    )
    return sql, [*space_params, *params, int(principal.ceiling), *of_document]


def _spaces(principal: Principal, collection: str) -> tuple[str, tuple[Any, ...]]:
    """A SELECT of the keys of the collections that the caller may search."""
    visible = Collection.objects.visible_to(principal, Scope.SEARCH).order_by()
    if collection:
        visible = visible.filter(slug=collection)
    try:
        return visible.values("id").query.sql_with_params()
    except EmptyResultSet:
        return "SELECT NULL::bigint AS id WHERE false", ()
