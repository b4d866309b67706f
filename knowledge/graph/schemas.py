"""Shapes of the graph in answers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from knowledge.graph.cypher.query import CypherResult, counts_of
from knowledge.graph.search import GraphResult


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
    return GraphSearchOut(
        nodes=[
            GraphNodeOut(
                id=node.id,
                type=node.type,
                name=node.name,
                code=node.code,
                depth=node.depth,
                collection=node.collection,
                properties=node.properties,
            )
            for node in result.nodes
        ],
        edges=[
            GraphEdgeOut(source=edge.source, target=edge.target, type=edge.type, properties=edge.properties)
            for edge in result.edges
        ],
        paths=[list(path) for path in result.paths],
        start_nodes=list(result.starts),
        traversal_stats=TraversalStatsOut(
            nodes_visited=result.nodes_visited,
            max_depth_reached=result.max_depth_reached,
            is_complete=result.is_complete,
        ),
    )


def cypher_out(result: CypherResult) -> CypherOut:
    return CypherOut(
        records=[dict(record) for record in result.records],
        summary=CypherSummaryOut(**counts_of(result.records)),
        is_complete=result.is_complete,
        backend=result.backend,
        execution_time_ms=result.execution_time_ms,
    )
