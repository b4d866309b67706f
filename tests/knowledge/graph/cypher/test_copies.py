"""The copies that queries run on follow every change and show nobody more than they may see."""

from __future__ import annotations

import pytest

from hub.access.principals import Classification, Role, local_operator
from knowledge.documents.deletion import delete_document
from knowledge.documents.editing import update_document
from knowledge.graph.cypher.query import projection_backend
from knowledge.ingest import graph
from tests.factories import new_collection, principal_with
from tests.knowledge.graph.cypher.asking import ask, values
from tests.knowledge.graph.support import add
from tests.knowledge.graph.texts import DESIGN, TESTS

pytestmark = pytest.mark.django_db


def test_a_change_reaches_the_next_query_without_building_everything_anew(project, tmp_path, monkeypatch):
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[3]]
    loads = []
    process = projection_backend().copies.process
    real = process.ask

    def noted(request, tables=(), **more):
        if request["do"] == "load":
            loads.append(request["is_new"])
        return real(request, tables, **more)

    monkeypatch.setattr(process, "ask", noted)
    add(
        tmp_path,
        TESTS.replace("| TC-002 | 貸し出す | FR-002 |", "| TC-003 | 予約する | FR-003 |"),
        name="テスト計画書.md",
    )
    traced = "MATCH (t:要件)-[:追跡]->(r:要件) WHERE t.code STARTS WITH 'TC' RETURN t.code, r.code ORDER BY t.code"
    assert values(ask(traced)) == [["TC-001", "FR-001"], ["TC-003", "FR-003"]]
    delete_document(principal=local_operator(), document_id=project["design"].public_id)
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[2]]
    assert values(ask("MATCH (n) WHERE n.code STARTS WITH 'C-' RETURN count(n)")) == [[0]]
    assert loads == [False, False]


def test_after_changes_the_copy_is_what_a_new_one_would_be(project, tmp_path):
    everything = (
        "MATCH (n) OPTIONAL MATCH (n)-[r]->(m) RETURN n.id, properties(n), type(r), m.id ORDER BY n.id, type(r), m.id"
    )
    ask(everything)
    add(tmp_path, DESIGN.replace("C-002 | 貸出部 | FR-002", "C-003 | 予約部 | FR-003"), name="基本設計書.md")
    update_document(
        principal=local_operator(), document_id=project["tests"].public_id, classification=Classification.C3
    )
    while due := graph.take_due():
        for document_pk in due:
            graph.update_graph(document_pk)
    changed = values(ask(everything, row_limit=5000))
    projection_backend().copies._kept.clear()
    assert values(ask(everything, row_limit=5000)) == changed


def test_nobody_sees_more_than_their_collections_and_their_ceiling(project, tmp_path):
    other = new_collection(slug="other")
    add(tmp_path, "# 別件設計書\n\n## 1. FR-777 別件\n\n本文。\n", name="別件.md", collection="other")
    reader = principal_with(Role.READER, other)
    assert values(ask("MATCH (d:Document) RETURN d.name", reader)) == [["別件設計書"]]
    assert values(ask("MATCH (n:Requirement) RETURN n.code", reader)) == [["FR-777"]]
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[4]]
    stranger = principal_with(None, other)
    assert values(ask("MATCH (n) WHERE n:Document OR n:Section RETURN count(n)", stranger)) == [[0]]


def test_a_copy_that_lost_its_right_to_a_document_loses_the_document(project):
    reader = principal_with(Role.READER, project["design"].collection)
    assert values(ask("MATCH (d:Document) RETURN count(d)", reader)) == [[3]]
    update_document(
        principal=local_operator(), document_id=project["design"].public_id, classification=Classification.C3
    )
    graph.update_graph(project["design"].pk)
    assert values(ask("MATCH (d:Document) RETURN count(d)", reader)) == [[2]]
    assert values(ask("MATCH (n) WHERE n.code STARTS WITH 'C-' RETURN count(n)", reader)) == [[0]]
