"""The graph through REST and MCP: the same facts, and the same refusals."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client

from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import create_token
from hub.core.errors import NotFound, Unavailable
from knowledge.graph.cypher.query import CypherQuery, projection_backend, query_knowledge_graph
from knowledge.graph.masters import sync_masters
from knowledge.graph.schemas import cypher_out, graph_search_out
from knowledge.graph.search import GraphQuery, graph_search
from knowledge.ingest import graph
from knowledge.models import GraphNode
from knowledge.search.retrieval import Retrieval, RetrievalStrategy, retrieve
from review.runs.retrieval import retrieve_for_check
from tests.factories import new_user, principal_with, upload_text, work_through
from tests.knowledge.graph.support import add
from tests.knowledge.graph.texts import DESIGN, REQUIREMENTS

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_copies():
    projection_backend().copies._kept.clear()
    yield
    projection_backend().copies._kept.clear()


@pytest.fixture(scope="module", autouse=True)
def process():
    yield
    projection_backend().copies.forget()


@pytest.fixture
def project(tmp_path):
    sync_masters()
    requirements = add(tmp_path, REQUIREMENTS, name="要件定義書.md", document_type="requirements")
    design = work_through(upload_text(local_operator(), tmp_path, DESIGN, name="基本設計書.md").document)
    while due := graph.take_due():
        for document_pk in due:
            graph.update_graph(document_pk)
    return requirements, design


@pytest.fixture
def client() -> Client:
    user = new_user(is_superuser=True)
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


def post(client: Client, path: str, body: dict):
    return client.post(f"/api/v1{path}", body, content_type="application/json")


def test_rest_walks_the_graph_as_the_service_does(project, client):
    answer = post(client, "/graph/search", {"entity": "FR-001", "relation_type": "追跡", "max_depth": 1})
    assert answer.status_code == 200
    query = GraphQuery(entity="FR-001", relation_types=("TRACES_TO",), max_depth=1)
    assert answer.json() == graph_search_out(graph_search(local_operator(), query)).model_dump(mode="json")


def test_rest_queries_the_graph_as_the_service_does(project, client):
    text = "MATCH (c:要件)-[r:TRACES_TO]->(f {code: $code}) RETURN c, r, f.name"
    answer = post(client, "/graph/query", {"cypher_query": text, "parameters": {"code": "FR-001"}}).json()
    found = query_knowledge_graph(local_operator(), CypherQuery(text=text, parameters={"code": "FR-001"}))
    ours = cypher_out(found).model_dump(mode="json")
    assert answer["records"] == ours["records"]
    assert answer["summary"] == ours["summary"]
    assert (answer["summary"]["nodes_returned"], answer["summary"]["relationships_returned"]) == (1, 1)


def test_rest_tells_what_is_wrong_with_a_query(project, client):
    refused = post(client, "/graph/query", {"cypher_query": "MATCH (n) DELETE n"})
    assert (refused.status_code, refused.json()["code"]) == (422, "cypher_refused")
    for body in ({}, {"cypher_query": ""}, {"cypher_query": "RETURN 1", "timeout_ms": 0}, {"cypher_query": 5}):
        assert post(client, "/graph/query", body).status_code == 422
    for body in ({}, {"entity": ""}, {"entity": "x", "max_depth": 99}, {"entity": "FR-001", "relation_type": "なにか"}):
        assert post(client, "/graph/search", body).status_code == 422
    assert post(client, "/graph/search", {"entity": "存在しない名前"}).status_code == 404


def test_the_schema_names_every_type_and_what_it_joins(project, client):
    schema = client.get("/api/v1/graph/schema").json()
    types = {row["type"]: row for row in schema["node_types"]}
    assert {"Document", "Section", "Requirement", "GuidelineArticle", "CheckItem", "Concept", "DocumentType"} <= set(
        types
    )
    assert types["Requirement"]["properties"][:3] == ["id", "name", "code"]
    for edge in schema["edge_types"]:
        assert set(edge["source_types"]) | set(edge["target_types"]) <= set(types)
    stated = {name for row in schema["node_types"] for name in row["properties"]}
    used = {name for node in GraphNode.objects.filter(collection__isnull=False) for name in node.properties}
    assert used <= stated


def test_check_items_in_force_are_in_the_graph(project):
    item = GraphNode.objects.filter(type="CheckItem").first()
    assert item is not None
    assert item.outgoing.filter(type="VALIDATES", target__type="DocumentType").exists()


@pytest.mark.parametrize("force", list(RetrievalStrategy))
def test_each_strategy_gathers_its_own_kind_of_sources(project, force):
    _requirements, design = project
    found = retrieve_for_check(
        local_operator(),
        check_item_id=GraphNode.objects.filter(type="CheckItem").first().code,
        document_id=design.public_id,
        query="C-001 は FR-001 に対応しているか。性能の記載はあるか。",
        force_strategy=force,
    )
    kinds = {source.type for source in found.retrieval.sources}
    expected = {RetrievalStrategy.VECTOR, RetrievalStrategy.GRAPH} if force is RetrievalStrategy.HYBRID else {force}
    assert kinds == expected
    assert all(0 <= source.relevance <= 1 for source in found.retrieval.sources)
    if force in (RetrievalStrategy.GRAPH, RetrievalStrategy.HYBRID):
        assert "Requirement「C-001 検索部」 -[TRACES_TO]-> Requirement「FR-001 蔵書検索」" in found.retrieval.context


def test_passages_that_the_caller_names_come_first_and_must_be_the_documents(project):
    _requirements, design = project
    code = GraphNode.objects.filter(type="CheckItem").first().code
    chunk = design.current_version.chunks.order_by("-index").first()
    asked = {"check_item_id": code, "document_id": design.public_id, "query": "性能"}
    found = retrieve_for_check(local_operator(), **asked, context_chunks=(chunk.public_id,))
    assert found.retrieval.sources[0].reference == chunk.public_id
    with pytest.raises(NotFound):
        retrieve_for_check(local_operator(), **asked, context_chunks=("chk_none",))


def test_an_item_a_document_or_a_caller_that_is_not_there_finds_nothing(project):
    requirements, design = project
    code = GraphNode.objects.filter(type="CheckItem").first().code
    for item, document, who in (
        ("XX-X99", design.public_id, local_operator()),
        (code, "doc_none", local_operator()),
        (code, design.public_id, principal_with(None, design.collection)),
    ):
        with pytest.raises(NotFound):
            retrieve_for_check(who, check_item_id=item, document_id=document, query="性能")
    reader = principal_with(Role.READER, requirements.collection)
    assert retrieve_for_check(reader, check_item_id=code, document_id=design.public_id, query="").retrieval.sources


@pytest.mark.parametrize(
    ("table", "code", "left"),
    [
        ("knowledge_graphnode", "graph_unavailable", RetrievalStrategy.VECTOR),
        ("knowledge_embeddingset", "passages_unavailable", RetrievalStrategy.GRAPH),
    ],
)
def test_of_passages_and_paths_the_one_answers_where_the_other_can_not(project, table, code, left):
    _requirements, design = project

    def gather(strategy: RetrievalStrategy) -> Retrieval:
        return retrieve(local_operator(), document_id=design.public_id, query="FR-001 の応答時間", strategy=strategy)

    whole = gather(RetrievalStrategy.HYBRID)
    assert {source.type for source in whole.sources} == {RetrievalStrategy.VECTOR, RetrievalStrategy.GRAPH}
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO gone")
    partial = gather(RetrievalStrategy.HYBRID)
    assert {source.type for source in partial.sources} == {left}
    assert partial.notices[0].code == code
    other = next(one for one in (RetrievalStrategy.VECTOR, RetrievalStrategy.GRAPH) if one is not left)
    with pytest.raises(Unavailable):
        gather(other)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE gone RENAME TO {table}")
    assert gather(RetrievalStrategy.HYBRID) == whole
