"""What the graph is made of, and its shapes in answers."""

from __future__ import annotations

from typing import Any

from django.db import connection
from pydantic import BaseModel, Field

from hub.access.principals import Principal, Scope
from knowledge.graph.cypher.query import CypherResult, counts_of
from knowledge.graph.search import GraphResult
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


class GraphNodeOut(BaseModel):
    id: str
    type: str = Field(description="code of the node type")
    name: str
    code: str
    depth: int = Field(description="edges from the start")
    collection: str | None = Field(description="null for masters")
    properties: dict[str, Any]


class GraphEdgeOut(BaseModel):
    source: str
    target: str
    type: str
    properties: dict[str, Any]


class TraversalStatsOut(BaseModel):
    nodes_visited: int
    max_depth_reached: int
    is_complete: bool = Field(description="false when a limit ended the walk, or the answer, before its end")


class GraphSearchOut(BaseModel):
    nodes: list[GraphNodeOut]
    edges: list[GraphEdgeOut]
    paths: list[list[str]] = Field(description="ids from a start to each other node of the answer")
    start_nodes: list[str] = Field(description="ids of what the entity named")
    traversal_stats: TraversalStatsOut
    notices: list[dict[str, str]] = Field([], description="why nothing is around the starts")


class CypherSummaryOut(BaseModel):
    nodes_returned: int
    relationships_returned: int
    properties_returned: int


class CypherOut(BaseModel):
    records: list[dict[str, Any]]
    summary: CypherSummaryOut
    is_complete: bool = Field(description="false when row_limit or the output budget cut the records")
    backend: str = Field(description="projection (the hub's own copy) or neo4j")
    execution_time_ms: float


class NodeTypeOut(BaseModel):
    type: str
    name_ja: str
    name_en: str
    aliases: list[str]
    properties: list[str]
    required: list[str]


class EdgeTypeOut(BaseModel):
    type: str
    name_ja: str
    name_en: str
    source_types: list[str]
    target_types: list[str]
    joins: list[list[str]] = Field(description="pairs [source type, target type]")
    properties: list[str]


class GraphSchemaOut(BaseModel):
    node_types: list[NodeTypeOut]
    edge_types: list[EdgeTypeOut]
    indexes: list[str]
    constraints: list[str]


def graph_search_out(result: GraphResult) -> GraphSearchOut:
    return GraphSearchOut.model_validate(
        {"nodes": result.nodes, "edges": result.edges, "paths": result.paths, "start_nodes": result.starts}
        | {"traversal_stats": result, "notices": [notice.as_dict() for notice in result.notices]},
        from_attributes=True,
    )


def cypher_out(result: CypherResult) -> CypherOut:
    return CypherOut(
        records=[dict(record) for record in result.records],
        summary=CypherSummaryOut(**counts_of(result.records)),
        is_complete=result.is_complete,
        backend=result.backend,
        execution_time_ms=result.execution_time_ms,
    )


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
