"""Asking in Cypher, and what came back."""

from __future__ import annotations

from hub.access.principals import local_operator
from knowledge.graph.cypher.query import CypherQuery, query_knowledge_graph


def ask(text: str, principal=None, **more):
    return query_knowledge_graph(principal or local_operator(), CypherQuery(text=text, **more))


def values(result) -> list[list]:
    return [list(record.values()) for record in result.records]
