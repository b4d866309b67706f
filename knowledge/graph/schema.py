"""What the graph is made of: the types, what they join, the properties their nodes and edges carry."""

from __future__ import annotations

from typing import Any

from django.db import connection

from hub.access.principals import Principal, Scope
from knowledge.models import EdgeType, NodeType

NODE_PROPERTIES = ("id", "name", "code")
# What documents and masters write; curators may add others.
PROPERTIES_OF = {
    "Document": ("document_id", "path", "document_type", "sections"),
    "Section": ("document_id", "level", "number", "path", "page", "start_offset", "end_offset"),
    "Figure": ("document_id", "page"),
    "Table": ("document_id", "page"),
    "Requirement": ("label", "role", "prefix", "defined_in", "mentions"),
    "Concept": ("domain", "category", "required"),
    "CheckItem": ("checklist", "check_type", "priority", "category"),
    "GuidelineArticle": ("guideline", "edition", "number", "category", "severity"),
}
EDGE_PROPERTIES = ("mentions", "relation")


def graph_schema(principal: Principal) -> dict[str, Any]:
    """Describe the graph for people and models who write queries; the same for every caller. Raises Forbidden."""
    principal.require(Scope.SEARCH)
    return {
        "node_types": [_node_type(row) for row in NodeType.objects.order_by("code")],
        "edge_types": [_edge_type(row) for row in EdgeType.objects.order_by("code").prefetch_related("ends")],
        "indexes": _indexes(),
        "constraints": [
            "every node has id, name and code; id is unique",
            "an edge joins only types that its own type lists; the same edge is there once",
            "queries only read, and see what the caller may search",
        ],
    }


def _node_type(row: NodeType) -> dict[str, Any]:
    return {
        "type": row.code,
        "name_ja": row.name_ja,
        "name_en": row.name_en,
        "aliases": row.aliases,
        "properties": [*NODE_PROPERTIES, *PROPERTIES_OF.get(row.code, ())],
        "required": list(NODE_PROPERTIES),
    }


def _edge_type(row: EdgeType) -> dict[str, Any]:
    ends = list(row.ends.all())
    return {
        "type": row.code,
        "name_ja": row.name_ja,
        "name_en": row.name_en,
        "source_types": sorted({end.source_id for end in ends}),
        "target_types": sorted({end.target_id for end in ends}),
        "joins": [[end.source_id, end.target_id] for end in ends],
        "properties": list(EDGE_PROPERTIES),
    }


def _indexes() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE tablename IN ('knowledge_graphnode', 'knowledge_graphedge') "
            "AND schemaname = current_schema() ORDER BY indexname"
        )
        return [name for (name,) in cursor.fetchall()]
