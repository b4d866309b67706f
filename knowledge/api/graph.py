"""REST calls about the knowledge graph."""

from __future__ import annotations

from typing import Any

from ninja import Field, Router, Schema

from hub.rest.auth import HubRequest
from hub.rest.idempotency import reads
from hub.rest.schemas import ShortText, ShortTexts
from knowledge.answering import walk_graph
from knowledge.graph import schemas
from knowledge.graph.cypher.query import MAX_PARAMETERS, MAX_ROWS, MAX_TIMEOUT_MS, CypherQuery, query_knowledge_graph
from knowledge.graph.schemas import graph_schema
from knowledge.graph.search import MAX_DEPTH, MAX_LIMIT, GraphQuery, Traversal
from knowledge.graph.walk import Direction
from knowledge.search import named

router = Router()


class GraphSearchIn(Schema):
    entity: str = Field(max_length=500, description="id, name, code or alias of a node; similar names are found too")
    relation_type: ShortText | ShortTexts = Field([], description="only these edge types, by code or name")
    node_type: ShortText | ShortTexts = Field([], description="only these node types, by code or name, and the start")
    direction: Direction = Direction.BOTH
    max_depth: int = Field(2, ge=1, le=MAX_DEPTH)
    traversal: Traversal = Traversal.BFS
    limit: int = Field(50, ge=1, le=MAX_LIMIT, description="the most nodes in the answer")
    collection: str = Field("", max_length=63, description="only nodes of this collection, and masters")
    document_id: str = Field("", max_length=60, description="only what this document speaks of")


class GraphQueryIn(Schema):
    cypher_query: str = Field(max_length=20_000, description="read-only openCypher; type names may be Japanese")
    parameters: dict[str, Any] = Field({}, max_length=MAX_PARAMETERS)
    timeout_ms: int = Field(30_000, ge=10, le=MAX_TIMEOUT_MS)
    row_limit: int = Field(1_000, ge=1, le=MAX_ROWS)


@router.post("/graph/search", response=schemas.GraphSearchOut)
@reads
def search_graph(request: HubRequest, asked: GraphSearchIn) -> schemas.GraphSearchOut:
    """Walk the knowledge graph from an entity: nodes, edges among them, and a path to each."""
    query = GraphQuery(
        relation_types=named(asked.relation_type),
        node_types=named(asked.node_type),
        **asked.model_dump(exclude={"relation_type", "node_type"}),
    )
    return schemas.graph_search_out(walk_graph(request.principal, query))


@router.post("/graph/query", response=schemas.CypherOut)
@reads
def query_graph(request: HubRequest, asked: GraphQueryIn) -> schemas.CypherOut:
    """Run a read-only openCypher query over the part of the graph that the caller may search."""
    query = CypherQuery(text=asked.cypher_query, **asked.model_dump(exclude={"cypher_query"}))
    return schemas.cypher_out(query_knowledge_graph(request.principal, query))


@router.get("/graph/schema", response=schemas.GraphSchemaOut)
def get_graph_schema(request: HubRequest) -> schemas.GraphSchemaOut:
    """The node types, the edge types with what they join, and their properties."""
    return schemas.GraphSchemaOut(**graph_schema(request.principal))
