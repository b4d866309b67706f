"""The Neo4j adapter: who is answered by it, and what it says when nobody answers. No Neo4j takes part."""

from __future__ import annotations

import socket

import pytest
from neo4j import graph as neo4j_graph

from hub.access.principals import Role, Scope, local_operator
from hub.config import Configuration
from hub.core.errors import Unavailable
from knowledge.graph.cypher.neo4j import plain
from knowledge.graph.cypher.query import CypherQuery, projection_backend, query_knowledge_graph
from knowledge.models import Collection
from tests.factories import principal_with

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def process():
    yield
    projection_backend().copies.forget()


@pytest.fixture
def nobody_listens(settings):
    """A bolt address at which nothing answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings.CONFIG = settings.CONFIG.model_copy(update={"neo4j_url": f"bolt://127.0.0.1:{port}"})
    projection_backend().copies._kept.clear()


def test_callers_who_see_everything_are_told_when_neo4j_is_down(nobody_listens):
    with pytest.raises(Unavailable, match="NEO4J_URL"):
        query_knowledge_graph(local_operator(), CypherQuery(text="RETURN 1 AS one", timeout_ms=2000))


def test_callers_with_limits_are_never_answered_by_neo4j(nobody_listens):
    reader = principal_with(Role.READER, Collection.objects.get(slug="default"))
    answer = query_knowledge_graph(reader, CypherQuery(text="RETURN 1 AS one"))
    assert (answer.backend, answer.records) == ("projection", ({"one": 1},))
    assert Scope.SEARCH in reader.scopes


def test_nodes_relationships_and_paths_come_in_the_hubs_shapes():
    hydrator = neo4j_graph.Graph()
    start = neo4j_graph.Node(hydrator, "4:x:1", 1, ["Requirement"], {"id": "gn_1", "name": "FR-001"})
    end = neo4j_graph.Node(hydrator, "4:x:2", 2, ["Requirement"], {"id": "gn_2", "name": "FR-002"})
    edge = neo4j_graph.Relationship(hydrator, "5:x:1", 1, {"mentions": 2})
    edge._start_node, edge._end_node = start, end
    assert plain(start) == {
        "id": "gn_1",
        "labels": ["Requirement"],
        "properties": {"id": "gn_1", "name": "FR-001"},
    }
    assert plain([edge])[0]["properties"] == {"mentions": 2}
    assert plain(neo4j_graph.Path(start, edge))["nodes"][1]["id"] == "gn_2"


def test_only_addresses_of_neo4j_are_accepted():
    with pytest.raises(ValueError, match="bolt"):
        Configuration(neo4j_url="http://localhost:7474")
