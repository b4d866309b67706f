"""Check items in the knowledge graph: what the items in force validate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hub.access.principals import system_principal
from knowledge.facts import EdgeFact, Facts, NodeFact, NodeRef
from knowledge.graph.names import name_key
from review.models import CheckItemVersion, CheckList
from review.services.masters import list_check_items


@dataclass(frozen=True, slots=True)
class CheckItems:
    """The check items in force as nodes; each validates the document types of its list."""

    name: str = "check_items"

    def facts(self) -> Facts:
        """One node per item, one edge per document type."""
        found = list_check_items(system_principal("graph"))
        return Facts(
            nodes=tuple(_node(checklist, item) for checklist, item in found),
            edges=tuple(edge for checklist, item in found for edge in _validates(checklist, item)),
        )


def _ref(item: CheckItemVersion) -> NodeRef:
    return NodeRef(type="CheckItem", key=name_key(item.item.code))


def _node(checklist: CheckList, item: CheckItemVersion) -> NodeFact:
    return NodeFact(
        ref=_ref(item),
        name=item.name_ja,
        code=item.item.code,
        aliases=(item.name_en,),
        properties={
            "checklist": checklist.code,
            "check_type": item.check_type,
            "priority": item.priority,
            "category": item.item.category,
        },
    )


def _validates(checklist: CheckList, item: CheckItemVersion) -> Iterator[EdgeFact]:
    for document_type in checklist.document_types:
        target = NodeRef(type="DocumentType", key=name_key(document_type))
        yield EdgeFact(source=_ref(item), type="VALIDATES", target=target)
