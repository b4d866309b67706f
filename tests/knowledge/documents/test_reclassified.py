"""A new classification holds at every door at once: no worker runs in these tests."""

from __future__ import annotations

import pytest
from django.test import Client

from hub.access.models import Clearance
from hub.access.principals import ALL_SCOPES, Classification, Principal, Role, Scope, local_operator
from hub.access.services import create_token, principal_for_user
from knowledge.graph.cypher.query import CypherQuery, projection_backend, query_knowledge_graph
from knowledge.models import Collection, Document, GraphContribution, GraphEdge, GraphNode
from tests.factories import new_user, upload_text
from tests.hub.admin.support import grant
from tests.knowledge.graph.support import add

pytestmark = pytest.mark.django_db
TEXT = "# 機密 要件定義書\n\n| 要件ID | 名称 |\n|---|---|\n| FR-901 | 機密照会 |\n| FR-902 | 共有 |\n"
OTHER = "# 公開 基本設計書\n\n| 要件ID | 名称 |\n|---|---|\n| FR-902 | 公開の名 |\n"


@pytest.fixture(autouse=True)
def fresh_copies():
    projection_backend().copies._kept.clear()
    yield
    projection_backend().copies.forget()


def person(role: Role, ceiling: Classification, scopes: frozenset[Scope] = ALL_SCOPES) -> tuple[Client, Principal]:
    user = new_user()
    grant(user, role, Collection.objects.get(slug="default"))
    Clearance.objects.create(user=user, ceiling=ceiling)
    token = create_token(principal=local_operator(), user=user, name="t", scopes=scopes)[1]
    return Client(headers={"Authorization": f"Bearer {token}"}), principal_for_user(user)


@pytest.fixture
def document(tmp_path) -> Document:
    return add(tmp_path, TEXT, name="機密.md")


def raise_it(document: Document) -> None:
    alice, _ = person(Role.CURATOR, Classification.C3)
    body = {"classification": "c3"}
    path = f"/api/v1/documents/{document.public_id}"
    assert alice.patch(path, body, content_type="application/json").status_code == 200


def names_of(client: Client, principal: Principal) -> str:
    """Everything that the doors of the graph say of the document's requirements."""
    said = []
    for entity in ("FR-901", "機密 要件定義書"):
        body = {"entity": entity, "max_depth": 1}
        said.append(client.post("/api/v1/graph/search", body, content_type="application/json").content.decode())
    rows = query_knowledge_graph(principal, CypherQuery(text="MATCH (n) RETURN n.name"))
    return " ".join(said).replace('"FR-901"', "").replace("「FR-901」", "") + str(rows)


def test_a_raised_document_is_gone_from_the_graph_with_the_answer_to_the_change(document: Document) -> None:
    heidi, principal = person(Role.READER, Classification.C2)
    assert "機密照会" in names_of(heidi, principal)
    raise_it(document)
    assert "機密照会" not in names_of(heidi, principal)
    assert not GraphNode.objects.visible_to(principal).filter(public_id=document.public_id).exists()
    assert not GraphContribution.objects.filter(document=document).exclude(classification=3).exists()


def test_what_others_say_of_a_node_stays_when_a_document_is_raised(document: Document, tmp_path) -> None:
    other = add(tmp_path, OTHER, name="公開.md")
    _heidi, principal = person(Role.READER, Classification.C2)
    raise_it(document)
    shown = GraphNode.objects.visible_to(principal)
    assert shown.filter(public_id=other.public_id).exists()
    node = shown.get(code="FR-902")
    assert "共有" not in f"{node.name}{node.aliases}{node.properties}"
    ends = GraphEdge.objects.visible_to(principal).values_list("source__public_id", "target__public_id")
    assert document.public_id not in {end for pair in ends for end in pair}


def test_an_upload_that_raises_a_document_hides_it_at_once(document: Document, tmp_path) -> None:
    _heidi, principal = person(Role.READER, Classification.C2)
    upload_text(local_operator(), tmp_path, TEXT, name="機密.md", classification=Classification.C3)
    assert not GraphNode.objects.visible_to(principal).filter(public_id=document.public_id).exists()


def test_a_lowered_document_is_in_the_graph_at_once(tmp_path) -> None:
    document = add(tmp_path, TEXT, name="機密.md", classification=Classification.C3)
    _heidi, principal = person(Role.READER, Classification.C2)
    alice, _ = person(Role.CURATOR, Classification.C3)
    path = f"/api/v1/documents/{document.public_id}"
    assert alice.patch(path, {"classification": "c2"}, content_type="application/json").status_code == 200
    assert GraphNode.objects.visible_to(principal).filter(public_id=document.public_id).exists()
