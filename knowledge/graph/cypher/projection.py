"""The caller's copy of the graph: read from PostgreSQL with their permissions, kept in the process that queries it.

One copy serves all callers with the same permitted collections and ceiling. Revisions in PostgreSQL say when it is
behind: what changed since is sent, or all of it where too much did.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import LimitExceeded, Unavailable
from knowledge.graph.contribute import MASTERS
from knowledge.graph.cypher.process import ProcessEnded, QueryProcess
from knowledge.models import Collection, GraphRemoval, GraphRevision

MAX_COPIES = 16
LOAD_TIMEOUT_S = 120.0
# Above this many changed rows, building anew is faster than changing; edges are removed one by one.
MAX_CHANGES = 5000
COST_OF_REMOVAL = 10
# A copy that nobody asked for so long is built anew: removals are kept for twice as long.
TRUSTED_FOR = timedelta(hours=12)

_NODES = (
    "SELECT public_id, type_id, name, code, properties::text FROM knowledge_graphnode "
    "WHERE classification <= %(ceiling)s AND (collection_id IS NULL OR collection_id = ANY(%(spaces)s))"
)
_EDGES = (
    "SELECT s.public_id, s.type_id, e.type_id, t.public_id, t.type_id, e.properties::text FROM knowledge_graphedge e "
    "JOIN knowledge_graphnode s ON s.id = e.source_id JOIN knowledge_graphnode t ON t.id = e.target_id "
    "WHERE e.classification <= %(ceiling)s AND (e.collection_id IS NULL OR e.collection_id = ANY(%(spaces)s)) "
    "AND s.classification <= %(ceiling)s AND (s.collection_id IS NULL OR s.collection_id = ANY(%(spaces)s)) "
    "AND t.classification <= %(ceiling)s AND (t.collection_id IS NULL OR t.collection_id = ANY(%(spaces)s))"
)
_NODE_IDS = "SELECT n.id FROM knowledge_graphnode n WHERE "
_EDGE_IDS = (
    "SELECT id FROM knowledge_graphedge WHERE source_id = ANY(%(nodes)s) "
    "UNION SELECT id FROM knowledge_graphedge WHERE target_id = ANY(%(nodes)s) "
    "UNION SELECT e.id FROM knowledge_graphedge e WHERE "
)
_HIDDEN_NODES = (
    "SELECT public_id FROM knowledge_graphnode WHERE classification > %(ceiling)s "
    "AND (collection_id IS NULL OR collection_id = ANY(%(spaces)s))"
)
_HIDDEN_EDGES = (
    "SELECT s.public_id, e.type_id, t.public_id FROM knowledge_graphedge e "
    "JOIN knowledge_graphnode s ON s.id = e.source_id JOIN knowledge_graphnode t ON t.id = e.target_id "
    "WHERE e.classification > %(ceiling)s AND (e.collection_id IS NULL OR e.collection_id = ANY(%(spaces)s))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyKey:
    """What decides which rows a caller sees: the collections they may search, and their ceiling."""

    spaces: tuple[int, ...]
    ceiling: int

    @classmethod
    def of(cls, principal: Principal) -> CopyKey:
        visible = Collection.objects.visible_to(principal, Scope.SEARCH).order_by("pk")
        return cls(spaces=tuple(visible.values_list("pk", flat=True)), ceiling=int(principal.ceiling))

    @property
    def name(self) -> str:
        return f"{self.ceiling}:{','.join(map(str, self.spaces))}"


@dataclass(slots=True)
class _Copy:
    revisions: dict[str, int]
    size: int
    generation: int
    checked_at: float = field(default_factory=time.monotonic)


class Copies:
    """The copies in one query process, the least recently used dropped first; their size together is bounded."""

    def __init__(self, process: QueryProcess) -> None:
        self.process = process
        self._kept: OrderedDict[CopyKey, _Copy] = OrderedDict()
        self._lock = threading.Lock()

    def ensure(self, key: CopyKey) -> int:
        """Have an up-to-date copy in the process; gives the process's generation.

        :raises LimitExceeded: the graph is larger than HUB_GRAPH_MAX_ROWS. :raises Unavailable: it can't be loaded.
        :raises ProcessEnded: something else ended the process meanwhile.
        """
        with self._lock:
            generation = self.process.ensure()
            for old in [held for held, copy in self._kept.items() if copy.generation != generation]:
                del self._kept[old]
            # The rows read after this may be newer than it says: they are sent once more next time, to no harm.
            rows = GraphRevision.objects.filter(space__in=[MASTERS, *key.spaces]).values_list("space", "number")
            revisions = {str(space): number for space, number in rows}
            copy = self._kept.get(key)
            if copy is not None and time.monotonic() - copy.checked_at > TRUSTED_FOR.total_seconds():
                copy = None
            if copy is None or copy.revisions != revisions:
                self._load(key, copy, revisions, generation)
            self._kept[key].checked_at = time.monotonic()
            self._kept.move_to_end(key)
            return generation

    def forget(self) -> None:
        """Drop all copies with their process."""
        with self._lock:
            self._kept.clear()
            self.process.stop()

    def _load(self, key: CopyKey, copy: _Copy | None, revisions: dict[str, int], generation: int) -> None:
        changes = _changes(key, copy.revisions, revisions) if copy else None
        asked = {"spaces": list(key.spaces), "ceiling": key.ceiling}
        tables = changes or [b"[]", b"[]", _copy(_NODES, asked), _copy(_EDGES, asked)]
        size = (copy.size if copy and changes else 0) + sum(map(len, tables))
        self._make_room(key, size, generation)
        request = {"do": "load", "graph": key.name, "is_new": changes is None}
        try:
            said = self.process.ask(request, tables, timeout_s=LOAD_TIMEOUT_S, generation=generation)
        except TimeoutError as error:
            raise _not_loaded() from error
        except ProcessEnded as error:
            if error.was_alone:
                raise _not_loaded() from error
            raise
        if "error" in said:
            self._kept.pop(key, None)
            raise _not_loaded()
        self._kept[key] = _Copy(revisions=revisions, size=size, generation=generation)

    def _make_room(self, key: CopyKey, size: int, generation: int) -> None:
        limit: int = settings.CONFIG.hub_graph_copy_bytes
        if size > limit:
            raise LimitExceeded(
                _(
                    "The graph that you may see takes {size} bytes, and queries hold at most {limit} "
                    "(HUB_GRAPH_COPY_BYTES). Use graph_search, or have the limit raised."
                ),
                size=size,
                limit=limit,
            )
        others = [held for held in self._kept if held != key]
        while others and (len(others) >= MAX_COPIES or size + sum(self._kept[held].size for held in others) > limit):
            oldest = others.pop(0)
            del self._kept[oldest]
            request = {"do": "drop", "graph": oldest.name}
            try:
                self.process.ask(request, timeout_s=LOAD_TIMEOUT_S, generation=generation)
            except TimeoutError as error:
                raise _not_loaded() from error


def _not_loaded() -> Unavailable:
    return Unavailable(
        _("The graph could not be loaded for queries (HUB_GRAPH_MEMORY_BYTES). Try again, or use graph_search."),
        code="graph_unavailable",
    )


def _changes(key: CopyKey, before: Mapping[str, int], now: Mapping[str, int]) -> list[bytes] | None:
    """What changed since the revisions ``before``; None where that is so much that building anew is faster.

    An edge is sent again when one of its ends changed: the end may have been hidden, and its edges with it.
    """
    since = {int(space): before.get(space, 0) for space, number in now.items() if before.get(space) != number}
    parameters: dict[str, Any] = {"spaces": list(key.spaces), "ceiling": key.ceiling}
    removed = _removals(since)
    nodes_changed = _rows(_NODE_IDS + _newer("n", since), {})
    if len(removed) + len(nodes_changed) > MAX_CHANGES:
        return None
    parameters["nodes"] = [pk for (pk,) in nodes_changed]
    gone_nodes = [row.node_id for row in removed if row.node_id]
    gone_nodes += [row[0] for row in _rows(f"{_HIDDEN_NODES} AND id = ANY(%(nodes)s)", parameters)]
    edge_ids = f"e.id IN ({_EDGE_IDS}{_newer('e', since)})"
    gone_edges = [[row.source_id, row.edge_type, row.target_id] for row in removed if not row.node_id]
    gone_edges += [list(row) for row in _rows(f"{_HIDDEN_EDGES} AND {edge_ids}", parameters)]
    nodes = _copy(f"{_NODES} AND id = ANY(%(nodes)s)", parameters)
    edges = _copy(f"{_EDGES} AND {edge_ids}", parameters)
    if edges.count(b"\n") + COST_OF_REMOVAL * len(gone_edges) > MAX_CHANGES:
        return None
    return [json.dumps(gone_nodes).encode(), json.dumps(gone_edges).encode(), nodes, edges]


def _newer(table: str, since: Mapping[int, int]) -> str:
    """Rows of changed spaces that are newer than the copy, as conditions that an index answers; all are integers."""
    conditions = [
        f"({table}.collection_id {'IS NULL' if space == MASTERS else f'= {space}'} AND {table}.revision > {number})"
        for space, number in since.items()
    ]
    return "(" + " OR ".join(conditions or ["false"]) + ")"


def _removals(since: Mapping[int, int]) -> list[GraphRemoval]:
    found = []
    for space, number in since.items():
        found += list(GraphRemoval.objects.filter(space=space, revision__gt=number)[: MAX_CHANGES + 1])
    return found


def _rows(sql: str, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _copy(sql: str, parameters: Mapping[str, Any]) -> bytes:
    """The rows of a query as CSV."""
    with connection.cursor() as cursor, cursor.copy(f"COPY ({sql}) TO STDOUT (FORMAT CSV)", parameters) as rows:
        return b"".join(bytes(block) for block in rows)


def prune_removals() -> int:
    """Forget removals that every living copy has heard of; gives their number."""
    return GraphRemoval.objects.filter(removed_at__lt=Now() - 2 * TRUSTED_FOR).delete()[0]
