"""From facts to rows: which node a name means, in a collection and in everybody's masters."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from knowledge.facts import Facts, NodeRef
from knowledge.models import GraphNode

MASTERS = 0
_BATCH = 2000


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
    for batch in _batches(sorted({ref.key for ref in refs})):
        rows = GraphNode.objects.filter(keys__overlap=batch).values_list(
            "pk", "public_id", "type_id", "collection_id", "keys"
        )
        for pk, public_id, node_type, collection_id, keys in rows:
            if collection_id in spaces:
                for key in keys:
                    by_key.setdefault((node_type, key), []).append((collection_id is None, pk, public_id))
    return {ref: min(by_key[ref.type, ref.key])[2] for ref in refs if (ref.type, ref.key) in by_key}


def _batches(keys: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(keys), _BATCH):
        yield keys[start : start + _BATCH]
