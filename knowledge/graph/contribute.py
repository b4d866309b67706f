"""Writing what a source says into the graph, and taking back what it no longer says.

Every function here runs inside the caller's transaction and leaves the same rows when it is called twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Model, QuerySet

from hub.core.bounds import check_json
from knowledge.facts import EdgeFact, Facts, NodeFact, NodeRef
from knowledge.graph.merge_contributions import Said, edge_values, node_values, settle
from knowledge.models import ContributionKind, Document, EdgeEnds, GraphContribution, GraphEdge, GraphNode

Ends = tuple[int, str, int]  # the source's key, the edge's type, the target's key
_ENDS = ("source_id", "type_id", "target_id")
_COUNT_CHANGE = """
INSERT INTO knowledge_graphrevision AS r (space, number) VALUES (%s, 1)
ON CONFLICT (space) DO UPDATE SET number = r.number + 1 RETURNING number
"""
_BATCH = 1000
# Rows go as one JSON text: writing them as arrays, each value on its own, costs the client several times as much.
_INSERT = """
INSERT INTO {table} ({columns}) SELECT {columns} FROM json_populate_recordset(NULL::{table}, %s)
ON CONFLICT DO NOTHING RETURNING {returning}
"""
MASTERS = 0
_KEYS_AT_ONCE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributor:
    """Who says it: a document's version, a master or a curator, and in which space (a collection's key or 0)."""

    kind: ContributionKind
    space: int = MASTERS
    source: str = ""
    document_pk: int | None = None
    version_pk: int | None = None
    classification: int = 1

    def rows(self) -> QuerySet[GraphContribution]:
        """What it has contributed so far."""
        if self.document_pk is not None:
            return GraphContribution.objects.filter(document_id=self.document_pk)
        return GraphContribution.objects.filter(kind=self.kind, source=self.source)


def contributor_of(document: Document, *, version_pk: int | None) -> Contributor:
    """The contributor that a document is."""
    return Contributor(
        kind=ContributionKind.DOCUMENT,
        space=document.collection_id,
        document_pk=document.pk,
        version_pk=version_pk,
        classification=document.classification,
    )


def lock_space(space: int) -> int:
    """Count a change of a space's graph and give its number; others who would change it wait for this transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_CHANGE, [space])
        return int(cursor.fetchone()[0])


def contribute(contributor: Contributor, facts: Facts) -> None:
    """Make what a source says all that it says: new rows are made, what it no longer supports goes.

    Edges that their type does not allow between the types of their ends, or with an end that is nowhere, are left out.
    """
    revision = lock_space(contributor.space)
    resolved = resolve(facts, space=contributor.space)
    touched = _touched(contributor.rows())
    if touched.nodes or touched.edges:
        contributor.rows().delete()
    nodes = _write_nodes(contributor, facts.nodes, resolved, revision)
    edges = _write_edges(contributor, facts.edges, resolved, revision)
    settle(nodes=touched.nodes | nodes, edges=touched.edges | edges, space=contributor.space, revision=revision)


def withdraw(contributor: Contributor) -> int:
    """Take back all that a source says; gives how many nodes and edges it had supported."""
    touched = _touched(contributor.rows())
    if not touched.nodes and not touched.edges:
        return 0
    revision = lock_space(contributor.space)
    contributor.rows().delete()
    settle(nodes=touched.nodes, edges=touched.edges, space=contributor.space, revision=revision)
    return len(touched.nodes) + len(touched.edges)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Touched:
    nodes: set[int]
    edges: set[int]


def _touched(rows: QuerySet[GraphContribution]) -> _Touched:
    pairs = list(rows.values_list("node_id", "edge_id"))
    return _Touched(nodes={node for node, _ in pairs if node}, edges={edge for _, edge in pairs if edge})


def _write_nodes(contributor: Contributor, facts: Iterable[NodeFact], resolved: Resolved, revision: int) -> set[int]:
    """Write nodes and what is said of them; gives the keys of those that were there before.

    A new row is what its one contribution says from the start, so only the others need to be settled.
    """
    said = {resolved.owned[fact.ref]: (fact, _said(contributor, fact)) for fact in facts}
    rows = [
        {
            "public_id": public_id,
            "type_id": fact.ref.type,
            "collection_id": contributor.space or None,
            "key": fact.ref.key,
            "revision": revision,
            **node_values([support]),
        }
        for public_id, (fact, support) in said.items()
    ]
    pks = dict(insert_new(GraphNode, rows, returning=("public_id", "id")))
    there = dict(GraphNode.objects.filter(public_id__in=said.keys() - pks.keys()).values_list("public_id", "pk"))
    pks |= there
    _write_contributions(contributor, [(pks[key], None, *one) for key, one in said.items()])
    return set(there.values())


def _said(contributor: Contributor, fact: NodeFact | EdgeFact) -> Said:
    facts: dict[str, object] = {"properties": {k: v for k, v in fact.properties.items() if v is not None}}
    if isinstance(fact, NodeFact):
        facts |= {"name": fact.name, "code": fact.code, "aliases": list(fact.aliases)}
    if contributor.kind == ContributionKind.CURATOR:
        check_json(facts, "properties")
    return Said(facts=facts, classification=contributor.classification)


def _write_contributions(
    contributor: Contributor, supports: Iterable[tuple[int | None, int | None, NodeFact | EdgeFact, Said]]
) -> None:
    """Write what supports nodes and edges: (node, edge, fact, what it says), one of the two keys None."""
    rows = [
        {
            "node_id": node_pk,
            "edge_id": edge_pk,
            "kind": contributor.kind,
            "source": contributor.source,
            "document_id": contributor.document_pk,
            "version_id": contributor.version_pk,
            "classification": support.classification,
            "start": fact.start,
            "end": fact.end,
            "rank": fact.rank if isinstance(fact, NodeFact) else 0,
            "facts": support.facts,
        }
        for node_pk, edge_pk, fact, support in supports
    ]
    insert_new(GraphContribution, rows)


def _write_edges(contributor: Contributor, facts: Iterable[EdgeFact], resolved: Resolved, revision: int) -> set[int]:
    """Write edges and what is said of them; gives the keys of those that were there before."""
    said = {ends: (fact, _said(contributor, fact)) for ends, fact in _placed(facts, resolved).items()}
    rows = [
        {
            "source_id": source,
            "type_id": edge_type,
            "target_id": target,
            "collection_id": contributor.space or None,
            "revision": revision,
            **edge_values(support),
        }
        for (source, edge_type, target), (_fact, support) in said.items()
    ]
    made = insert_new(GraphEdge, rows, returning=("id", *_ENDS))
    pks = {(source, edge_type, target): pk for pk, source, edge_type, target in made}
    there = _edges_between(said.keys() - pks.keys())
    pks |= there
    _write_contributions(contributor, [(None, pks[ends], *one) for ends, one in said.items()])
    return set(there.values())


def _edges_between(wanted: Set[Ends]) -> dict[Ends, int]:
    """The keys of edges that are there."""
    sources = {source for source, _type, _target in wanted}
    rows = GraphEdge.objects.filter(source__in=sources).values_list("pk", *_ENDS)
    found = {(source, edge_type, target): pk for pk, source, edge_type, target in rows}
    return {ends: found[ends] for ends in wanted}


def _placed(facts: Iterable[EdgeFact], resolved: Resolved) -> dict[Ends, EdgeFact]:
    """The edges by the keys of their ends, as far as both are there and their type joins such nodes."""
    facts = list(facts)
    ids = {resolved.id_of(end) for fact in facts for end in (fact.source, fact.target)} - {None}
    rows = GraphNode.objects.filter(public_id__in=ids).values_list("public_id", "pk", "type_id")
    nodes = {public_id: (pk, node_type) for public_id, pk, node_type in rows}
    allowed = set(EdgeEnds.objects.order_by().values_list("edge_type_id", "source_id", "target_id"))
    placed: dict[Ends, EdgeFact] = {}
    for fact in facts:
        source, target = nodes.get(resolved.id_of(fact.source) or ""), nodes.get(resolved.id_of(fact.target) or "")
        if source and target and source[0] != target[0] and (fact.type, source[1], target[1]) in allowed:
            placed.setdefault((source[0], fact.type, target[0]), fact)
    return placed


def withdraw_document(document: Document) -> int:
    """Take all that a document said out of the graph; gives how many nodes and edges it had supported."""
    return withdraw(contributor_of(document, version_pk=None))


def reclassify_document(document: Document) -> None:
    """Give what a document says the classification that it has now, in the transaction that changed it.

    The caller holds the document's row. Nodes and edges that nothing lower supports are hidden from then on, and what
    is shown of the others is what the lower ones say.
    """
    contributor = contributor_of(document, version_pk=None)
    changed = contributor.rows().exclude(classification=contributor.classification)
    touched = _touched(changed)
    if not touched.nodes and not touched.edges:
        return
    revision = lock_space(contributor.space)
    changed.update(classification=contributor.classification)
    settle(nodes=touched.nodes, edges=touched.edges, space=contributor.space, revision=revision)


def insert_new(
    model: type[Model], rows: Sequence[Mapping[str, Any]], *, returning: Sequence[str] = ("id",)
) -> list[tuple[Any, ...]]:
    """Insert rows in their order, all with the same columns; gives ``returning`` of those that were not there yet.

    Of the others nothing is returned: a unique constraint names them. One statement for each 1,000 rows.
    """
    made: list[tuple[Any, ...]] = []
    with connection.cursor() as cursor:
        for start in range(0, len(rows), _BATCH):
            columns = ", ".join(f'"{column}"' for column in rows[start])
            statement = _INSERT.format(table=model._meta.db_table, columns=columns, returning=", ".join(returning))
            cursor.execute(statement, [json.dumps(rows[start : start + _BATCH], ensure_ascii=False)])
            made += cursor.fetchall()
    return made


def made_id(space: int, node_type: str, key: str) -> str:
    """The public id of a node that is known by its name: the same in every run, for every process."""
    return "gn_" + hashlib.sha256(f"{space}|{node_type}|{key}".encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The public id behind each reference. What ``owned`` names is made where it is not there yet."""

    ids: dict[NodeRef, str]
    owned: dict[NodeRef, str]

    def id_of(self, ref: NodeRef) -> str | None:
        return self.owned.get(ref) or self.ids.get(ref)


def resolve(facts: Facts, *, space: int) -> Resolved:
    """Find or name the node of every reference. Two queries, and more for every 2,000 names.

    A name is looked up in the space first, then among the masters; the lowest id wins among several. What the facts
    state themselves and nobody has yet gets an id of its own in the space.
    """
    refs = [*(node.ref for node in facts.nodes), *(end for edge in facts.edges for end in (edge.source, edge.target))]
    wanted = {ref for ref in refs if not ref.id}
    found = _find(wanted, space)
    owned = {}
    for node in facts.nodes:
        ref = node.ref
        owned[ref] = ref.id or found.get(ref) or made_id(space, ref.type, ref.key)
    direct = {ref.id for ref in refs if ref.id} - set(owned.values())
    there = set(GraphNode.objects.filter(public_id__in=direct).values_list("public_id", flat=True))
    ids = {ref: ref.id for ref in refs if ref.id in there}
    return Resolved(ids={**found, **ids}, owned=owned)


def _find(wanted: Iterable[NodeRef], space: int) -> dict[NodeRef, str]:
    by_key: dict[tuple[str, str], list[tuple[bool, int, str]]] = {}
    refs = list(wanted)
    spaces = [None, space] if space != MASTERS else [None]
    keys = sorted({ref.key for ref in refs})
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        rows = GraphNode.objects.filter(keys__overlap=keys[start : start + _KEYS_AT_ONCE]).values_list(
            "pk", "public_id", "type_id", "collection_id", "keys"
        )
        for pk, public_id, node_type, collection_id, own_keys in rows:
            if collection_id in spaces:
                for key in own_keys:
                    by_key.setdefault((node_type, key), []).append((collection_id is None, pk, public_id))
    return {ref: min(by_key[ref.type, ref.key])[2] for ref in refs if (ref.type, ref.key) in by_key}
