"""What curators write into the graph: nodes and edges of their own, beside those of documents and masters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.access.services import record_event
from hub.core import patterns as stored_patterns
from hub.core.errors import Forbidden, InvalidInput, NotFound
from hub.core.languages import shown
from knowledge.collections import curates_some_collection
from knowledge.facts import EdgeFact, Facts, NodeFact, NodeRef
from knowledge.graph.contribute import MASTERS, Contributor, contribute, made_id, withdraw
from knowledge.graph.reading import name_key
from knowledge.models import (
    Collection,
    ContributionKind,
    DocumentGraph,
    EdgeEnds,
    GraphContribution,
    GraphEdge,
    GraphNode,
    IdentifierPattern,
    NodeType,
)

CURATED_RANK = 9
LONGEST_NAME = 500
MAX_ALIASES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDraft:
    """A node as a curator writes it. Without a collection it is for everybody."""

    type: str
    name: str
    code: str = ""
    aliases: Sequence[str] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)
    collection: Collection | None = None


def may_curate_in(principal: Principal, collection_id: int | None) -> bool:
    """Return whether the caller may write here: a curator of the collection; for everybody's nodes, of the hub."""
    if collection_id is None:
        return principal.may(HubRight.ONTOLOGIES)
    return Collection.objects.visible_to(principal, Scope.CURATE).filter(pk=collection_id).exists()


def curates_graph(principal: Principal) -> bool:
    """Return whether there is anything in the graph that the caller may write."""
    return principal.may(HubRight.ONTOLOGIES) or curates_some_collection(principal)


def write_node(*, principal: Principal, draft: NodeDraft, node_id: str = "") -> GraphNode:
    """Make a node, or with ``node_id`` say something of one that is there; what curators say counts before documents.

    A name that a node of this type has already, in the collection, means that node. Raises Forbidden, InvalidInput.
    """
    space = draft.collection.pk if draft.collection else MASTERS
    _check_right(principal, space)
    _check_draft(draft)
    public_id = node_id or _id_of(draft, space)
    fact = NodeFact(
        ref=NodeRef(type=draft.type, id=public_id),
        name=draft.name.strip(),
        code=draft.code.strip(),
        aliases=tuple(draft.aliases),
        properties=dict(draft.properties),
        rank=CURATED_RANK,
    )
    with transaction.atomic():
        contribute(_curator(space, public_id), Facts(nodes=(fact,)))
        _read_again(space, {*map(name_key, (draft.name, draft.code, *draft.aliases))} - {""})
        record_event(principal=principal, action="GRAPH_NODE_WRITE", resource=f"graph_node:{public_id}")
    return GraphNode.objects.get(public_id=public_id)


def _id_of(draft: NodeDraft, space: int) -> str:
    key = name_key(draft.code or draft.name)
    there = GraphNode.objects.filter(type=draft.type, keys__contains=[key]).order_by("pk")
    there = there.filter(collection=space) if space else there.filter(collection__isnull=True)
    return there.values_list("public_id", flat=True).first() or made_id(space, draft.type, key)


def _curator(space: int, thing: str) -> Contributor:
    return Contributor(kind=ContributionKind.CURATOR, space=space, source=thing)


def _check_right(principal: Principal, space: int) -> None:
    principal.require(Scope.CURATE)
    if space == MASTERS:
        principal.require_hub(HubRight.ONTOLOGIES)
    elif not may_curate_in(principal, space):
        raise Forbidden(_("Only a curator of the collection may change its graph."))


def _check_draft(draft: NodeDraft) -> None:
    names = (draft.name, draft.code, *draft.aliases)
    if not draft.name.strip() or any(len(name) > LONGEST_NAME for name in names) or len(draft.aliases) > MAX_ALIASES:
        raise InvalidInput(_("{field}: give 1 to {limit} characters."), field="name", limit=LONGEST_NAME)
    if not NodeType.objects.filter(pk=draft.type).exists():
        known = ", ".join(NodeType.objects.values_list("code", flat=True))
        raise InvalidInput(
            _('{field}: there is no type "{given}". Known: {known}.'),
            code="unknown_graph_type",
            field="type",
            given=draft.type,
            known=known,
        )


def _read_again(space: int, keys: set[str]) -> None:
    """Documents that speak of what is now called so are read again: they may mean this node."""
    speaking = GraphContribution.objects.filter(node__keys__overlap=sorted(keys), document__isnull=False)
    graphs = DocumentGraph.objects.filter(document_id__in=speaking.values("document_id"))
    (graphs.filter(document__collection_id=space) if space else graphs).update(version=None)


def delete_node(*, principal: Principal, node: GraphNode) -> bool:
    """Take back what curators said of a node; False when documents or masters still support it, and it stays."""
    refusal = _("This node comes from documents or masters. It goes when they do.")
    _take_back(principal, node, node.public_id, refusal=refusal, action="GRAPH_NODE_DELETE", kind="graph_node")
    return not GraphNode.objects.filter(pk=node.pk).exists()


def _take_back(
    principal: Principal, row: GraphNode | GraphEdge, name: str, *, refusal: str | Promise, action: str, kind: str
) -> None:
    space = row.collection_id or MASTERS
    _check_right(principal, space)
    if not row.contributions.filter(kind=ContributionKind.CURATOR).exists():
        raise InvalidInput(refusal, code="not_curated")
    with transaction.atomic():
        withdraw(_curator(space, name))
        record_event(principal=principal, action=action, resource=f"{kind}:{name}")


def write_edge(*, principal: Principal, source: GraphNode, edge_type: str, target: GraphNode) -> GraphEdge:
    """Join two nodes. Raises Forbidden, NotFound for a hidden end, InvalidInput when the type does not join them."""
    visible = GraphNode.objects.visible_to(principal).filter(pk__in=[source.pk, target.pk])
    if visible.count() != len({source.pk, target.pk}):
        raise NotFound(_("There is no such node."), code="node_not_found")
    space = source.collection_id or target.collection_id or MASTERS
    _check_right(principal, space)
    if target.collection_id and target.collection_id != space:
        raise InvalidInput(_("Nodes of two collections can't be joined."), code="two_collections")
    if not EdgeEnds.objects.filter(edge_type=edge_type, source=source.type_id, target=target.type_id).exists():
        raise InvalidInput(
            _("{edge} does not join {source} to {target}. Edge types say which node types they join."),
            code="edge_not_allowed",
            edge=edge_type,
            source=source.type_id,
            target=target.type_id,
        )
    fact = EdgeFact(
        source=NodeRef(type=source.type_id, id=source.public_id),
        type=edge_type,
        target=NodeRef(type=target.type_id, id=target.public_id),
    )
    name = _edge_name(source.public_id, edge_type, target.public_id)
    with transaction.atomic():
        contribute(_curator(space, name), Facts(edges=(fact,)))
        record_event(principal=principal, action="GRAPH_EDGE_WRITE", resource=f"graph_edge:{name}")
    return GraphEdge.objects.get(source=source, type=edge_type, target=target)


def delete_edge(*, principal: Principal, edge: GraphEdge) -> bool:
    """Take back what a curator said of an edge; False when documents or masters still support it, and it stays."""
    refusal = _("This edge comes from documents or masters. It goes when they do.")
    name = _edge_name(edge.source.public_id, edge.type_id, edge.target.public_id)
    _take_back(principal, edge, name, refusal=refusal, action="GRAPH_EDGE_DELETE", kind="graph_edge")
    return not GraphEdge.objects.filter(pk=edge.pk).exists()


def _edge_name(source: str, edge_type: str, target: str) -> str:
    return f"{source}>{edge_type}>{target}"


def check_pattern(pattern: str) -> None:
    """Raise InvalidInput for a pattern that can't be compiled, takes long over a few letters, or matches nothing."""
    try:
        stored = stored_patterns.check_pattern(pattern, where="identifier pattern")
    except stored_patterns.PatternRefused as refused:
        raise InvalidInput(
            _("{given} can't be used as a regular expression: {reason}"),
            code="invalid_pattern",
            given=pattern,
            reason=shown(refused.reason),
        ) from refused
    if stored.matches_empty():
        raise InvalidInput(
            _("{given} matches the empty text, and so everywhere. Write out what an identifier looks like."),
            code="invalid_pattern",
            given=pattern,
        )


def save_pattern(*, principal: Principal, pattern: IdentifierPattern) -> IdentifierPattern:
    """Store a pattern for identifiers; all documents are read again. Raises Forbidden, InvalidInput."""
    _check_right(principal, MASTERS)
    check_pattern(pattern.pattern)
    with transaction.atomic():
        pattern.save()
        record_event(principal=principal, action="CONFIG_CHANGE", resource=f"identifier_pattern:{pattern.pk}")
    return pattern
