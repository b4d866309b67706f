"""The Neo4j adapter: who is answered by it, what goes over the wire, what it says when nobody answers.

No Neo4j takes part: a small server that speaks bolt does, which shows the adapter's side only.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest
from django.utils import translation
from neo4j import graph as neo4j_graph

from hub.access.principals import Role, Scope, local_operator
from hub.config import Configuration
from hub.core.errors import InvalidInput, Unavailable
from knowledge.graph.cypher.neo4j import plain
from knowledge.graph.cypher.query import CypherQuery, QueryTimeout, projection_backend, query_knowledge_graph
from knowledge.models import Collection
from tests.factories import principal_with
from tests.knowledge.graph import bolt_server
from tests.knowledge.graph.bolt_server import BoltServer

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


def test_without_the_optional_driver_its_file_of_requirements_is_named(nobody_listens, monkeypatch):
    monkeypatch.setitem(sys.modules, "neo4j", None)
    monkeypatch.delitem(sys.modules, "knowledge.graph.cypher.neo4j", raising=False)
    with pytest.raises(Unavailable, match=r"requirements/neo4j\.txt"):
        query_knowledge_graph(local_operator(), CypherQuery(text="RETURN 1 AS one"))


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


@contextmanager
def answered_by(settings, answer: Callable[[str, dict[str, Any]], tuple[list[str], list[list[Any]]]]):
    """The adapter asks a small server that speaks bolt in place of Neo4j."""
    with bolt_server.serving(BoltServer(answer=answer)) as server:
        told = {"neo4j_url": f"bolt://127.0.0.1:{server.port}", "neo4j_user": "reader", "neo4j_password": "opensesame"}
        settings.CONFIG = settings.CONFIG.model_copy(update=told)
        yield server


def ask(text: str, **options: Any):
    return query_knowledge_graph(local_operator(), CypherQuery(text=text, **options))


def test_a_query_goes_over_bolt_as_a_read_with_its_parameters_and_timeout(settings):
    rows = [[bolt_server.node(1, "Requirement", id="gn_1", name="予約登録"), 3]]
    with answered_by(settings, lambda _query, _parameters: (["r", "n"], rows)) as server:
        asked = "MATCH (r:要件) WHERE r.name = $name RETURN r, 3 AS n"
        answer = ask(asked, parameters={"name": "予約登録"}, timeout_ms=1500)

    assert answer.backend == "neo4j"
    node = {"id": "gn_1", "labels": ["Requirement"], "properties": {"id": "gn_1", "name": "予約登録"}}
    assert answer.records == ({"r": node, "n": 3},)
    [begin] = server.told(bolt_server.BEGIN)
    assert (begin[0]["mode"], begin[0]["tx_timeout"]) == ("r", 1500)
    [run] = server.told(bolt_server.RUN)
    assert "Requirement" in run[0]
    assert list(run[1].values()) == ["予約登録"]
    [hello] = server.told(bolt_server.HELLO)
    assert (hello[0]["principal"], hello[0]["credentials"]) == ("reader", "opensesame")


def test_rows_beyond_the_limit_are_not_fetched(settings):
    with answered_by(settings, lambda _query, _parameters: (["n"], [[n] for n in range(5000)])) as server:
        answer = ask("MATCH (n) RETURN 1 AS n", row_limit=10)

    assert [row["n"] for row in answer.records] == list(range(10))
    assert not answer.is_complete
    assert server.told(bolt_server.PULL)[0][0]["n"] == 11


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("Neo.ClientError.Statement.SyntaxError", InvalidInput, "Invalid input"),
        ("Neo.ClientError.Transaction.TransactionTimedOut", QueryTimeout, "2000 ms"),
        ("Neo.TransientError.General.OutOfMemoryError", Unavailable, "NEO4J_URL"),
    ],
)
def test_what_neo4j_refuses_is_said_as_the_hub_says_it(settings, code, error, message):
    def refuse(_query: str, _parameters: dict[str, Any]):
        raise bolt_server.Refusal(code, "Invalid input")

    with answered_by(settings, refuse), translation.override("en"), pytest.raises(error, match=message):
        ask("MATCH (n) RETURN n", timeout_ms=2000)


def test_a_write_is_refused_before_neo4j_hears_of_it(settings):
    with answered_by(settings, lambda _query, _parameters: (["n"], [])) as server, pytest.raises(InvalidInput):
        ask("MATCH (n) DETACH DELETE n")
    assert server.seen == []
