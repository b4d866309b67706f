"""Check items in the knowledge graph: what the items in force validate, and which articles they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hub.access.principals import system_principal
from knowledge.facts import EdgeFact, Facts, NodeFact, NodeRef
from knowledge.graph.reading import name_key
from review.masters.listing import list_check_items
from review.models import CheckItemVersion, CheckList, GuidelineMapping


@dataclass(frozen=True, slots=True)
class CheckItems:
    """The check items in force as nodes; each validates the document types of its list and the articles behind it."""

    name: str = "check_items"

    def facts(self) -> Facts:
        """One node per item, one edge per document type, two per mapping to an article."""
        found = list_check_items(system_principal("graph"))
        types = [edge for checklist, item in found for edge in _validates(checklist, item)]
        mappings = GuidelineMapping.objects.select_related("check_item").order_by("article_code", "check_item__code")
        articles = [edge for mapping in mappings for edge in _rests_on(mapping)]
        return Facts(nodes=tuple(_node(checklist, item) for checklist, item in found), edges=(*types, *articles))


CHECK_ITEMS = CheckItems()


def _ref(code: str) -> NodeRef:
    return NodeRef(type="CheckItem", key=name_key(code))


def _node(checklist: CheckList, item: CheckItemVersion) -> NodeFact:
    return NodeFact(
        ref=_ref(item.item.code),
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
        yield EdgeFact(source=_ref(item.item.code), type="VALIDATES", target=target)


def _rests_on(mapping: GuidelineMapping) -> Iterator[EdgeFact]:
    article = NodeRef(type="GuidelineArticle", key=name_key(mapping.article_code))
    item, relation = _ref(mapping.check_item.code), {"relation": mapping.relation}
    yield EdgeFact(source=article, type="DEFINES", target=item, properties=relation)
    yield EdgeFact(source=item, type="VALIDATES", target=article, properties=relation)
