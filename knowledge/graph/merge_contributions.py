"""What a node or an edge is, from its contributions: the graph's rows are a function of them and of nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.graph.reading import keys_of
from knowledge.models import ContributionKind, DocumentGraph, GraphContribution, GraphEdge, GraphNode, GraphRemoval

_KIND_ORDER = {ContributionKind.CURATOR: 0, ContributionKind.MASTER: 1, ContributionKind.DOCUMENT: 2}
_NODE_FIELDS = ["name", "code", "aliases", "keys", "properties", "classification", "revision"]
_EDGE_FIELDS = ["properties", "classification", "revision"]
_BATCH = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a contribution says of a node or an edge, before it is a row."""

    facts: dict[str, Any]
    classification: int


def settle(*, nodes: Iterable[int], edges: Iterable[int], space: int, revision: int) -> None:
    """Bring touched nodes and edges in line with their contributions: what nothing supports goes.

    What a person sees of a node is what the best of its contributions with the lowest classification says: curators
    before masters before documents, definitions before mentions, then the oldest.
    """
    _settle_edges(list(edges), space=space, revision=revision)
    _settle_nodes(list(nodes), space=space, revision=revision)


def _settle_edges(pks: Sequence[int], *, space: int, revision: int) -> None:
    supports = _contributions("edge", pks)
    lost = [pk for pk in pks if pk not in supports]
    remove_edges(lost, space=space, revision=revision)
    changed = []
    for edge in GraphEdge.objects.filter(pk__in=list(supports)):
        values = edge_values(supports[edge.pk][0])
        if _differs(edge, values):
            changed.append(_with(edge, {**values, "revision": revision}))
    GraphEdge.objects.bulk_update(changed, _EDGE_FIELDS, batch_size=_BATCH)


def _settle_nodes(pks: Sequence[int], *, space: int, revision: int) -> None:
    supports = _contributions("node", pks)
    rows = list(GraphNode.objects.filter(pk__in=pks))
    lost, changed = [], []
    for node in rows:
        contributions = [one for one in supports.get(node.pk, ()) if node.collection_id or one.document_id is None]
        if not contributions:
            lost.append(node.pk)
            continue
        values = node_values(contributions)
        if _differs(node, values):
            changed.append(_with(node, {**values, "revision": revision}))
    GraphNode.objects.bulk_update(changed, _NODE_FIELDS, batch_size=_BATCH)
    remove_nodes(lost, space=space, revision=revision)


def _contributions(what: str, pks: Sequence[int]) -> dict[int, list[GraphContribution]]:
    """The contributions of each, the best first."""
    found: dict[int, list[GraphContribution]] = defaultdict(list)
    for row in GraphContribution.objects.filter(**{f"{what}_id__in": list(pks)}):
        found[getattr(row, f"{what}_id")].append(row)
    for rows in found.values():
        rows.sort(key=_order)
    return found


def _order(row: GraphContribution) -> tuple[int, int, int, int, str]:
    kind = _KIND_ORDER[ContributionKind(row.kind)]
    return (row.classification, kind, -row.rank, row.document_id or 0, row.source)


def edge_values(best: GraphContribution | Said) -> dict[str, Any]:
    """The fields of an edge whose best contribution this is."""
    return {"properties": best.facts.get("properties", {}), "classification": best.classification}


def node_values(contributions: Sequence[GraphContribution | Said]) -> dict[str, Any]:
    """The fields of a node with these contributions, the best first."""
    best = contributions[0].facts
    level = contributions[0].classification
    names = [
        name
        for one in contributions
        if one.classification == level
        for name in (one.facts["name"], *one.facts.get("aliases", ()))
    ]
    aliases = list(dict.fromkeys(name for name in names if name != best["name"]))
    return {
        "name": best["name"][:500],
        "code": best.get("code", "")[:100],
        "aliases": [alias[:300] for alias in aliases],
        "keys": keys_of([best["name"], best.get("code", ""), *aliases]),
        "properties": best.get("properties", {}),
        "classification": level,
    }


def _differs(row: GraphNode | GraphEdge, values: dict[str, Any]) -> bool:
    return any(getattr(row, name) != value for name, value in values.items())


def _with(row: Any, values: dict[str, Any]) -> Any:  # noqa: ANN401 - a node or an edge, as it came
    for name, value in values.items():
        setattr(row, name, value)
    return row


def remove_edges(pks: Sequence[int], *, space: int, revision: int) -> None:
    """Remove edges with all that supports them, and note that they went."""
    rows = GraphEdge.objects.filter(pk__in=list(pks))
    GraphRemoval.objects.bulk_create(
        [
            GraphRemoval(space=space, revision=revision, source_id=source, edge_type=edge_type, target_id=target)
            for source, edge_type, target in rows.values_list("source__public_id", "type_id", "target__public_id")
        ],
        batch_size=_BATCH,
    )
    rows.delete()


def remove_nodes(pks: Sequence[int], *, space: int, revision: int) -> None:
    """Remove nodes with their edges and all that supports them, and note that they went.

    Documents that had said something of them are read again: what they say may belong to another node now.
    """
    if not pks:
        return
    rows = GraphNode.objects.filter(pk__in=list(pks))
    speaking = GraphContribution.objects.filter(node__in=rows, document__isnull=False).values("document_id")
    DocumentGraph.objects.filter(document_id__in=speaking).update(version=None)
    GraphRemoval.objects.bulk_create(
        [
            GraphRemoval(space=space, revision=revision, node_id=node_id)
            for node_id in rows.values_list("public_id", flat=True)
        ],
        batch_size=_BATCH,
    )
    rows.delete()
