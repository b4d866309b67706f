"""The knowledge graph on smartreviewer-knowledge: Cypher queries, and the schema to write them by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from hub.access.principals import Scope
from knowledge.graph.cypher.query import MAX_ROWS, MAX_TIMEOUT_MS, CypherQuery
from knowledge.graph.cypher.query import query_knowledge_graph as run_query
from knowledge.graph.schemas import CypherOut, cypher_out, graph_schema
from mcp_bridge import uris
from mcp_bridge.caller import current_caller
from mcp_bridge.server import HubServer, HubTool, hub_tool
from mcp_bridge.servers.resources import add_resource


def query_knowledge_graph(
    cypher_query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=20_000,
            description="read-only openCypher; node labels are codes (Requirement) or Japanese type names (要件)",
            examples=[
                "MATCH (r:Requirement) WHERE NOT ()-[:TRACES_TO]->(r) RETURN r.code, r.label",
                "MATCH (d:文書)-[:HAS_SECTION]->(s:節)-[:TRACES_TO]->(r:要件 {code: $code}) RETURN d.name, s.name",
            ],
        ),
    ],
    parameters: Annotated[dict[str, Any] | None, Field(description="values for $names in the query")] = None,
    timeout_ms: Annotated[int, Field(ge=10, le=MAX_TIMEOUT_MS, description="the query is stopped after it")] = 30_000,
    row_limit: Annotated[int, Field(ge=1, le=MAX_ROWS, description="the most records in the answer")] = 1_000,
) -> CypherOut:
    """Query the knowledge graph (ナレッジグラフの照会・集計) in openCypher: patterns, counts, gaps, paths.

    Use it for questions over many nodes (全体の集計、件数、対応のない要件・試験の一覧、条件に合うものすべて). Read
    smartreviewer-knowledge://graph/schema first: every node has id, name and code. Only reading works (MATCH, WITH,
    UNWIND, RETURN, subqueries, db.labels() and a few graph algorithms); you see what you may search. To look around
    one entity, graph_search is simpler.
    """
    query = CypherQuery(text=cypher_query, parameters=parameters or {}, timeout_ms=timeout_ms, row_limit=row_limit)
    return cypher_out(run_query(current_caller().principal, query))


def read_graph_schema() -> dict[str, Any]:
    """The knowledge graph's node types, edge types with what they join, properties, indexes and constraints."""
    return graph_schema(current_caller().principal)


def _add_graph_resources(server: HubServer) -> None:
    add_resource(
        server, uris.GRAPH_SCHEMA, read_graph_schema, title="Knowledge graph schema (グラフスキーマ)", picture="graph"
    )


TOOLS: tuple[HubTool, ...] = (
    hub_tool(query_knowledge_graph, title="Query the graph (グラフ照会)", scope=Scope.SEARCH, picture="graph"),
)

PARTS: tuple[Callable[[HubServer], None], ...] = (_add_graph_resources,)
