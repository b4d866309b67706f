"""What documents contribute to the graph, and what becomes of it when they change or go."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hub.access.principals import Classification, local_operator
from knowledge.documents.deletion import delete_document, retire_document
from knowledge.documents.editing import update_document
from knowledge.graph.contribute import insert_new
from knowledge.graph.masters import sync_masters
from knowledge.graph.merge_contributions import settle as settle_rows
from knowledge.ingest import graph
from knowledge.models import (
    Document,
    DocumentGraph,
    DocumentVersion,
    GraphContribution,
    GraphEdge,
    GraphNode,
    IdentifierPattern,
    VersionContent,
)
from tests.factories import new_collection, upload_text, work_through
from tests.knowledge.graph.support import add, edges, everything, nodes, settle
from tests.knowledge.graph.texts import DESIGN, REQUIREMENTS, TESTS

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def masters() -> None:
    sync_masters()


@pytest.fixture
def project(tmp_path) -> dict[str, Document]:
    found = {
        "design": add(tmp_path, DESIGN, name="基本設計書.md", document_type="basic_design"),
        "requirements": add(tmp_path, REQUIREMENTS, name="要件定義書.md", document_type="requirements"),
        "tests": add(tmp_path, TESTS, name="テスト計画書.md", document_type="test_plan"),
    }
    settle()
    return found


def test_a_document_is_in_the_graph_as_soon_as_the_pipeline_is_through(tmp_path):
    document = work_through(upload_text(local_operator(), tmp_path, REQUIREMENTS).document)
    assert document.latest_version.status == "ready"
    assert GraphNode.objects.filter(public_id=document.public_id).exists()
    assert graph.take_due() == []


def test_a_document_contributes_its_sections_and_its_type(project):
    assert ("図書館システム 基本設計書", "HAS_SECTION", "3.2 性能") in edges("HAS_SECTION")
    assert ("3. コンポーネント設計", "CONTAINS", "3.2 性能") in edges("CONTAINS")
    assert ("図書館システム テスト計画書", "CATEGORIZED_BY", "テスト計画書") in edges("CATEGORIZED_BY")


def test_a_heading_that_names_a_concept_is_in_its_category(project):
    concepts = set(
        GraphEdge.objects.filter(type="CATEGORIZED_BY", source__name="3.2 性能").values_list("target__code", flat=True)
    )
    assert concepts == {"nfr_performance"}


def test_a_requirement_is_one_node_however_many_documents_name_it(project):
    requirement = GraphNode.objects.get(type="Requirement", code="FR-001")
    assert requirement.properties["label"] == "蔵書検索"
    assert requirement.properties["defined_in"] == project["requirements"].public_id
    speaking = set(requirement.contributions.values_list("document__public_id", flat=True))
    assert speaking == {document.public_id for document in project.values()}


def test_definitions_mentions_and_traces_are_told_apart(project):
    assert ("2. 機能要件", "DEFINES", "FR-001") in edges()
    assert ("3.1 NFR-001 応答時間", "DEFINES", "NFR-001") in edges()
    assert ("3.2 性能", "TRACES_TO", "NFR-001") in edges()
    traces = {pair for pair in edges("TRACES_TO") if pair[0].startswith(("C-", "TC-"))}
    assert traces == {
        ("C-001", "TRACES_TO", "FR-001"),
        ("C-001", "TRACES_TO", "NFR-001"),
        ("C-002", "TRACES_TO", "FR-002"),
        ("TC-001", "TRACES_TO", "FR-001"),
        ("TC-002", "TRACES_TO", "FR-002"),
    }


def test_references_reach_sections_figures_and_other_documents_whichever_came_first(project):
    references = edges("REFERENCES")
    assert ("2. システム構成", "REFERENCES", "3.2 性能") in references
    assert ("2. システム構成", "REFERENCES", "図2-1 全体構成") in references
    assert ("1. 目的", "REFERENCES", "図書館システム 要件定義書") in references
    by_id = GraphEdge.objects.filter(type="REFERENCES", target__public_id=project["design"].public_id)
    assert set(by_id.values_list("source__properties__document_id", flat=True)) == {project["tests"].public_id}


def test_a_chapter_of_another_document_is_not_one_of_this(project):
    own = ("1. 目的", "REFERENCES", "2. システム構成")
    assert own not in edges("REFERENCES")


def test_every_span_holds_what_it_is_said_to_hold(project):
    rows = list(GraphContribution.objects.filter(node__type="Requirement").select_related("node", "version__content"))
    assert len(rows) > 10
    for row in rows:
        assert row.version.content.markdown[row.start : row.end] == row.node.name


def test_doing_it_twice_leaves_the_same_rows(project):
    before = everything()
    numbers = set(GraphNode.objects.values_list("public_id", "revision"))
    DocumentGraph.objects.update(version=None)
    settle()
    assert everything() == before
    assert set(GraphNode.objects.values_list("public_id", "revision")) == numbers


def test_what_is_new_in_the_graph_needs_no_settling(project):
    before = everything()
    nodes_there, edges_there = (set(model.objects.values_list("pk", flat=True)) for model in (GraphNode, GraphEdge))
    settle_rows(nodes=nodes_there, edges=edges_there, space=0, revision=-1)
    assert everything() == before
    assert not GraphNode.objects.filter(revision=-1).exists()
    assert not GraphEdge.objects.filter(revision=-1).exists()


def test_only_rows_that_were_not_there_are_told_to_be_new():
    concept: dict[str, Any] = {
        "type_id": "Concept",
        "collection_id": None,
        "code": "",
        "aliases": [],
        "keys": ["性能", 'a\\"b'],
    }
    concept |= {"properties": {"level": None, "path": "1 › 2"}, "classification": 1, "revision": 1}
    first, second = ({**concept, "public_id": f"gn_{name}", "key": name, "name": name} for name in "甲乙")
    assert insert_new(GraphNode, [first], returning=("public_id",)) == [("gn_甲",)]
    assert insert_new(GraphNode, [first, second], returning=("public_id",)) == [("gn_乙",)]
    node = GraphNode.objects.get(public_id="gn_乙")
    assert (node.keys, node.properties) == (concept["keys"], concept["properties"])


def test_a_document_that_is_deleted_leaves_nothing_that_only_it_supported(project):
    others = GraphContribution.objects.exclude(document=project["design"]).values_list("node_id", "edge_id")
    kept = {pair for pair in others if any(pair)}
    receipt = delete_document(principal=local_operator(), document_id=project["design"].public_id)
    assert receipt.counts["graph"] > 10
    left = set(GraphContribution.objects.values_list("node_id", "edge_id"))
    # edges of others that ended in what went have gone with it
    assert {node for node, _ in left} == {node for node, _ in kept}
    assert not GraphNode.objects.filter(name__startswith="C-").exists()
    assert GraphNode.objects.filter(name="FR-001").exists()
    assert GraphNode.objects.filter(contributions__isnull=True).count() == 0
    assert GraphEdge.objects.filter(contributions__isnull=True).count() == 0


def test_a_definition_that_goes_leaves_what_others_say(project):
    delete_document(principal=local_operator(), document_id=project["requirements"].public_id)
    requirement = GraphNode.objects.get(code="FR-001", type="Requirement")
    assert "label" not in requirement.properties
    assert not GraphNode.objects.filter(code="FR-003").exists()


def test_a_new_version_replaces_what_the_old_one_said(project, tmp_path):
    kept = GraphNode.objects.get(type="Section", name="1. 目的", properties__document_id=project["tests"].public_id)
    add(tmp_path, TESTS.replace("TC-002 | 貸し出す | FR-002", "TC-003 | 予約する | FR-003"), name="テスト計画書.md")
    assert not GraphNode.objects.filter(code="TC-002").exists()
    assert ("TC-003", "TRACES_TO", "FR-003") in edges()
    assert GraphNode.objects.filter(public_id=kept.public_id, pk=kept.pk).exists()


def test_a_retired_document_is_out_of_the_graph_at_once(project):
    retire_document(project["tests"])
    assert not GraphNode.objects.filter(code__startswith="TC-").exists()
    assert not DocumentGraph.objects.filter(document=project["tests"]).exists()
    assert graph.take_due() == []


def test_a_document_that_changes_its_type_or_title_is_read_again(project):
    update_document(
        principal=local_operator(),
        document_id=project["tests"].public_id,
        document_type="other",
        title="図書館システム 総合テスト計画書",
    )
    settle()
    assert ("図書館システム 総合テスト計画書", "CATEGORIZED_BY", "その他") in edges()


def test_a_killed_process_leaves_the_document_due(project):
    DocumentGraph.objects.filter(document=project["design"]).delete()
    assert graph.take_due() == [project["design"].pk]


def test_a_text_that_breaks_the_reading_is_left_after_three_tries_and_says_so(project, monkeypatch):
    def broken(_source):
        raise RuntimeError

    monkeypatch.setattr(graph, "extract", broken)
    DocumentGraph.objects.filter(document=project["design"]).update(version=None)
    for _ in range(graph.MAX_ATTEMPTS):
        assert graph.take_due() == [project["design"].pk]
        assert graph.update_graph(project["design"].pk) is False
        assert graph.take_due() == []  # not before a pause
        DocumentGraph.objects.update(not_before=timezone.now() - timedelta(days=1))
    assert graph.take_due() == []
    assert DocumentGraph.objects.get(document=project["design"]).error == "RuntimeError"


def test_a_pattern_of_a_curator_finds_identifiers_of_another_shape(project, tmp_path):
    IdentifierPattern.objects.create(pattern=r"要件[0-9]{3}")
    add(tmp_path, "# 帳票設計書\n\n| 要件番号 | 内容 |\n|---|---|\n| 要件012 | 日報を出す。 |\n", name="帳票設計書.md")
    settle()
    assert ("帳票設計書", "DEFINES", "要件012") in edges()


def test_variants_of_width_case_and_hyphen_are_one_and_long_vowels_are_not(project, tmp_path):
    add(tmp_path, "# 運用設計書\n\n## 1. 対応\n\nＦＲ－００１ と FR‐002 を運用で確かめる。\n", name="運用設計書.md")
    assert ("1. 対応", "TRACES_TO", "FR-001") in edges()
    assert GraphNode.objects.filter(type="Requirement", key="fr-001").count() == 1


def test_collections_do_not_share_requirements(project, tmp_path):
    new_collection(slug="other")
    add(tmp_path, REQUIREMENTS, name="要件定義書.md", collection="other")
    found = GraphNode.objects.filter(code="FR-001").values_list("collection__slug", flat=True)
    assert sorted(found) == ["default", "other"]


def test_a_node_says_no_more_than_its_least_secret_source(project, tmp_path):
    text = "# 秘密設計書\n\n| 要件ID | 要件名 |\n|---|---|\n| FR-001 | 秘密の検索 |\n| FR-900 | 秘密の機能 |\n"
    add(tmp_path, text, name="秘密設計書.md", classification=Classification.C3)
    assert GraphNode.objects.get(code="FR-001").properties["label"] == "蔵書検索"
    secret = GraphNode.objects.get(code="FR-900")
    assert (secret.classification, secret.properties["label"]) == (Classification.C3, "秘密の機能")
    update_document(
        principal=local_operator(),
        document_id=project["requirements"].public_id,
        classification=Classification.C3,
    )
    settle()
    assert GraphNode.objects.get(code="FR-001").classification == Classification.C2
    assert "label" not in GraphNode.objects.get(code="FR-001").properties


def test_what_stands_in_the_change_history_is_no_reference(tmp_path):
    text = (
        "# 設計書\n\n## 改訂履歴\n\n| 版 | 内容 |\n|---|---|\n| 1.1 | FR-001 を追加 |\n\n## 1. 本文\n\n概要を示す。\n"
    )
    add(tmp_path, text)
    assert not GraphNode.objects.filter(code="FR-001").exists()


def test_real_documents_give_the_same_graph_in_whatever_order_they_come(test_data, tmp_path):
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(test_data.glob("documents/*.md"))[:6]}
    graphs = []
    for order in (sorted(texts), sorted(texts, reverse=True)):
        collection = new_collection()
        for name in order:
            add(tmp_path, texts[name], name=name, collection=collection.slug)
        settle()
        rows = GraphEdge.objects.filter(collection=collection)
        graphs.append(set(rows.values_list("source__name", "type_id", "target__name")))
    assert graphs[0] == graphs[1]
    assert len(graphs[0]) > 100


def test_nothing_is_left_of_a_collection_that_was_emptied(project):
    for document in project.values():
        delete_document(principal=local_operator(), document_id=document.public_id)
    assert nodes(collection__isnull=False) == set()
    assert not DocumentVersion.objects.exists()
    assert not VersionContent.objects.exists()
