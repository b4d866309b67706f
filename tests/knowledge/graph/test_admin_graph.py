from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import openpyxl
import pytest
from django.urls import reverse
from django.utils.text import normalize_newlines
from lxml import html

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.core.errors import Forbidden, InvalidInput
from knowledge.admin import node_properties
from knowledge.admin.node_properties import MOST_ROWS, PropertiesField, rows_of, with_changes
from knowledge.graph.curation import NodeDraft, check_pattern, delete_edge, delete_node, write_edge, write_node
from knowledge.graph.traceability import traceability_matrix
from knowledge.ingest import graph
from knowledge.models import Collection, GraphEdge, GraphNode, IdentifierPattern
from tests.factories import principal_with
from tests.hub.admin.support import client_of, grant, make_user
from tests.knowledge.graph.support import add, settle
from tests.knowledge.graph.texts import REQUIREMENTS

pytestmark = pytest.mark.django_db


def default() -> Collection:
    return Collection.objects.get(slug="default")


def test_the_matrix_shows_where_requirements_stand_and_what_is_missing(project):
    matrix = traceability_matrix(local_operator(), collection="default")
    assert [document.document_type_id for document in matrix.documents] == ["basic_design", "requirements", "test_plan"]
    rows = {row.code: row for row in matrix.rows}
    assert "TC-001" not in rows
    assert rows["FR-001"].gaps == ()
    assert rows["FR-001"].cells[1].defines
    assert rows["FR-003"].gaps == ("basic_design", "test_plan")
    assert rows["NFR-001"].gaps == ("test_plan",)
    assert rows["FR-003"].cells[0] is None
    only = traceability_matrix(local_operator(), collection="default", prefix="FR", only_gaps=True)
    assert [row.code for row in only.rows] == ["FR-003"]


def test_the_matrix_page_marks_gaps_and_gives_the_same_as_excel(project):
    client = client_of(make_user("佐藤", is_superuser=True))
    address = reverse("admin:hub_traceability")
    shown = client.get(address, {"collection": "default"}).content.decode()
    assert "FR-003" in shown
    assert "hub-badge-warn" in shown
    file = client.get(address, {"collection": "default", "format": "xlsx", "only_gaps": "on"})
    sheet = openpyxl.load_workbook(io.BytesIO(file.content)).active
    codes = [row[0].value for row in sheet.iter_rows(min_row=2)]
    assert "FR-003" in codes
    assert "FR-001" not in codes


def test_texts_in_the_excel_file_are_never_formulas(project, tmp_path):
    text = "# 設計書\n\n| 要件ID | 名称 |\n|---|---|\n| FR-050 | =HYPERLINK(1) |\n"
    add(tmp_path, text, name="式.md")
    client = client_of(make_user("佐藤", is_superuser=True))
    file = client.get(reverse("admin:hub_traceability"), {"collection": "default", "format": "xlsx"})
    sheet = openpyxl.load_workbook(io.BytesIO(file.content)).active
    named = {row[0].value: row[1] for row in sheet.iter_rows(min_row=2)}
    assert named["FR-050"].data_type == "s"
    assert not str(named["FR-050"].value).startswith("=")


def test_the_picture_gets_neighbours_with_links_to_their_passages(project):
    client = client_of(make_user("佐藤", is_superuser=True))
    page = client.get(reverse("admin:hub_graph"), {"entity": "FR-001"}).content.decode()
    assert 'value="FR-001"' in page
    answer = client.get(reverse("admin:hub_graph_data"), {"entity": "FR-001"})
    found = json.loads(answer.content)
    requirement = next(node for node in found["nodes"] if node["name"] == "FR-001")
    assert f"/{project[0].public_id}/?version=1&start={REQUIREMENTS.index('FR-001')}" in requirement["link"]
    assert client.get(requirement["link"], follow=True).status_code == 200
    assert {edge["type"] for edge in found["edges"]} >= {"DEFINES", "TRACES_TO"}


def test_the_picture_shows_the_properties_of_a_node_in_words(project):
    for_programs = {"role": "downstream", "defined_in": "doc_x"}
    shown = {"label": "予約", "mentions": 1, "required": True, "室": "1"}
    GraphNode.objects.filter(name="FR-001").update(properties=shown | for_programs)
    client = client_of(make_user("佐藤", is_superuser=True))
    found = client.get(reverse("admin:hub_graph_data"), {"entity": "FR-001"}).json()
    requirement = next(node for node in found["nodes"] if node["name"] == "FR-001")
    assert requirement["facts"] == {"名称": "予約", "文書での記載回数": "1", "必須": "はい", "室": "1"}


@pytest.mark.parametrize(
    "asked", [{}, {"entity": "存在しない名前"}, {"entity": "FR-001", "depth": "9"}, {"depth": "x"}]
)
def test_a_bad_question_of_the_picture_is_told(project, asked):
    client = client_of(make_user("佐藤", is_superuser=True))
    answer = client.get(reverse("admin:hub_graph_data"), asked)
    assert answer.status_code in (404, 422)
    assert json.loads(answer.content)["error"]


def test_staff_see_nothing_of_collections_that_are_not_theirs(project):
    other = Collection.objects.create(slug="other", name="別の箱")
    staff = make_user("高橋")
    grant(staff, Role.CURATOR, other)
    client = client_of(staff)
    assert client.get(reverse("admin:hub_graph_data"), {"entity": project[0].public_id}).status_code == 404
    assert "FR-001" not in client.get(reverse("admin:knowledge_graphnode_changelist")).content.decode()
    assert "FR-001" not in client.get(reverse("admin:hub_traceability"), {"collection": "default"}).content.decode()
    node = GraphNode.objects.get(code="FR-001")
    assert client.get(reverse("admin:knowledge_graphnode_change", args=[node.pk])).status_code in (302, 404)


def test_every_list_and_form_of_the_graph_opens(project):
    client = client_of(make_user("佐藤", is_superuser=True))
    node = GraphNode.objects.get(code="FR-001")
    for model in ("graphnode", "graphedge", "nodetype", "edgetype", "identifierpattern"):
        assert client.get(reverse(f"admin:knowledge_{model}_changelist")).status_code == 200, model
        assert client.get(reverse(f"admin:knowledge_{model}_add")).status_code == 200, model
    page = client.get(reverse("admin:knowledge_graphnode_change", args=[node.pk])).content.decode()
    assert project[0].public_id in page
    found = client.get(reverse("admin:knowledge_graphnode_changelist"), {"q": "蔵書検索"}).content.decode()
    assert found
    edge = GraphEdge.objects.first()
    assert client.get(reverse("admin:knowledge_graphedge_change", args=[edge.pk])).status_code == 200


def test_a_curator_adds_a_node_by_the_form_and_joins_it(project):
    client = client_of(make_user("佐藤", is_superuser=True))
    form = {"type": "Concept", "collection": "", "name": "利用者区分", "code": "user_class", "aliases": "ユーザ区分"}
    made = client.post(
        reverse("admin:knowledge_graphnode_add"),
        {**form, "properties-key": ["備考", ""], "properties-value": ["新設", ""]},
    )
    assert made.status_code == 302, made.content.decode()[:3000]
    concept = GraphNode.objects.get(code="user_class")
    assert concept.properties == {"備考": "新設"}
    section = GraphNode.objects.get(name="3.2 性能")
    joined = client.post(
        reverse("admin:knowledge_graphedge_add"),
        {"type": "CATEGORIZED_BY", "source": section.pk, "target": concept.pk},
    )
    assert joined.status_code == 302
    assert GraphEdge.objects.filter(source=section, target=concept).exists()
    assert AuditEvent.objects.filter(action="GRAPH_NODE_WRITE").exists()


def test_properties_are_changed_in_a_table_and_what_is_not_in_it_stays(project):
    client = client_of(make_user("佐藤", is_superuser=True))
    node = GraphNode.objects.get(code="FR-003")
    stored = {"label": "検索", "page": 3, "required": True, "role": "defined", "places": [1, 2]}
    draft = NodeDraft(type="Requirement", name=node.name, code=node.code, properties=stored, collection=default())
    write_node(principal=local_operator(), draft=draft)
    address = reverse("admin:knowledge_graphnode_change", args=[node.pk])
    page = client.get(address).content.decode()
    assert '<span title="page">ページ</span>' in page
    assert '<td data-label="名称"><input type="text"' in page  # a narrow page says of each field what it is for
    assert 'value="defined"' not in page
    assert "{&quot;" not in page
    form = {"name": node.name, "code": node.code, "aliases": ""}
    keys = ["label", "page", "required", "備考", "", ""]

    def save(*values: str, keys: list[str] = keys) -> dict[str, Any] | str:
        answer = client.post(address, {**form, "properties-key": keys, "properties-value": values})
        if answer.status_code == 302:
            return GraphNode.objects.get(pk=node.pk).properties
        (said,) = answer.context["adminform"].form.errors["properties"]
        assert all(f'value="{value}"' in answer.content.decode() for value in values if value)
        return said

    kept = {"role": "defined", "places": [1, 2]}
    changed = {"label": "蔵書検索", "page": 4, "required": False, "備考": "新設"}
    assert save("蔵書検索", "4", "false", "新設", "", "") == {**kept, **changed}
    assert save("", "四", "", "", "", "") == {**kept, "page": "四"}
    for name in ("page", "role", "document_id"):
        assert "別の名前" in save("1", "2", keys=["page", name])
    assert "名前" in save("値だけ", keys=[""])


def sent_by(page: str) -> dict[str, list[str]]:
    """What a browser sends of the table of properties as it is shown."""
    table = html.fragment_fromstring(page[page.index("<table") : page.index("</table>") + 8])
    fields = table.xpath(".//input|.//textarea|.//select")
    sent: dict[str, list[str]] = {"properties-key": [], "properties-value": []}
    for field in fields:
        text = normalize_newlines(field.value or "")
        text = text.removeprefix("\n") if field.tag == "textarea" else text.replace("\n", "")
        sent[field.get("name")].append(text.replace("\n", "\r\n"))
    return sent


def test_what_nobody_touched_in_the_table_of_properties_stays_as_it_is_stored(project):
    stored = {
        " 室 ": "1",
        "備考": " 一行目\n  二行目\n",
        "注": "\r\n次",
        "": "名なし",
        "空": "",
        "改\n行": "x",
        "段": " 2 ",
    }
    node = GraphNode.objects.get(code="FR-003")
    GraphNode.objects.filter(pk=node.pk).update(properties=stored)
    client = client_of(make_user("佐藤", is_superuser=True))
    address = reverse("admin:knowledge_graphnode_change", args=[node.pk])
    page = client.get(address).content.decode()
    sent = sent_by(page[page.index('<table class="hub-table hub-properties') :])
    form = {"name": node.name, "code": node.code, "aliases": ""}
    assert client.post(address, form | sent).status_code == 302
    assert GraphNode.objects.get(pk=node.pk).properties == stored
    field = PropertiesField(required=False)
    field.stored = stored
    rows = list(zip(*sent.values(), strict=True))
    assert field.clean(rows) == stored
    assert not field.has_changed(None, rows)
    changed = [(key, "3" if key == " 室 " else text) for key, text in rows]
    assert field.clean(changed) == stored | {" 室 ": "3"}
    assert field.has_changed(None, changed)
    twice = field.prepare_value([("段", " 2 "), ("段", "3")])
    assert [one.is_new for one in twice] == [False, True]  # whose name can be corrected


def test_a_property_that_a_worker_changes_while_its_form_is_open_is_not_overwritten(project):
    client = client_of(make_user("佐藤", is_superuser=True))
    node = GraphNode.objects.get(code="FR-003")
    GraphNode.objects.filter(pk=node.pk).update(properties={"page": 3, "備考": "旧"})
    address = reverse("admin:knowledge_graphnode_change", args=[node.pk])
    page = client.get(address)
    form = {"name": node.name, "code": node.code, "aliases": "", "hub_seen": page.context["hub_seen"]}
    form |= {"properties-key": ["page", "備考"], "properties-value": ["3", "新"]}
    GraphNode.objects.filter(pk=node.pk).update(properties={"page": 7, "備考": "旧"})  # as a worker does
    answer = client.post(address, form)
    assert answer.status_code == 200
    said = " ".join(answer.context["adminform"].form.non_field_errors())
    assert "ページ: 7; 備考: 旧" in said
    assert "佐藤" not in said
    assert 'value="新"' in answer.content.decode()
    assert GraphNode.objects.get(pk=node.pk).properties == {"page": 7, "備考": "旧"}
    again = {**form, "hub_seen": answer.context["hub_seen"], "properties-value": ["7", "新"]}
    assert client.post(address, again).status_code == 302
    assert GraphNode.objects.get(pk=node.pk).properties == {"page": 7, "備考": "新"}


def test_properties_are_looked_through_once_for_all_that_are_changed(monkeypatch):
    calls = []
    monkeypatch.setattr(
        node_properties, "rows_of", lambda *given, **named: calls.append(given) or rows_of(*given, **named)
    )
    stored = {f"k{number}": "v" for number in range(50)}
    assert with_changes(stored, [("k7", "w")]) == stored | {"k7": "w"}
    assert len(calls) == 1


def test_more_properties_than_a_form_can_send_are_shown_to_read_and_stay(project):
    client = client_of(make_user("佐藤", is_superuser=True))
    node = GraphNode.objects.get(code="FR-003")
    address = reverse("admin:knowledge_graphnode_change", args=[node.pk])
    form = {"name": node.name, "code": node.code, "aliases": ""}
    stored = {f"k{number}": "v" for number in range(MOST_ROWS)}
    draft = NodeDraft(type="Requirement", name=node.name, code=node.code, properties=stored, collection=default())
    write_node(principal=local_operator(), draft=draft)
    page = client.get(address).content.decode()
    assert f'name="properties-key" value="k{MOST_ROWS - 1}"' in page
    sent = {"properties-key": list(stored), "properties-value": ["w"] * MOST_ROWS}
    assert client.post(address, form | sent).status_code == 302
    stored = dict.fromkeys([*stored, "もう一つ"], "w")
    write_node(principal=local_operator(), draft=replace(draft, properties=stored))
    page = client.get(address).content.decode()
    assert "properties-key" not in page
    assert f"{MOST_ROWS}" in page
    assert "もう一つ: w" in page
    assert client.post(address, form).status_code == 302
    assert GraphNode.objects.get(pk=node.pk).properties == stored


def test_who_may_not_change_a_node_reads_its_properties_in_words(project):
    reader = make_user("閲覧")
    grant(reader, Role.READER, default())
    node = GraphNode.objects.get(code="FR-003")
    GraphNode.objects.filter(pk=node.pk).update(properties={"required": True, "role": "defined"})
    page = client_of(reader).get(reverse("admin:knowledge_graphnode_change", args=[node.pk])).content.decode()
    assert "必須: はい" in page
    assert "defined" not in page


def test_what_a_curator_calls_a_requirement_counts_before_what_documents_call_it(project):
    draft = NodeDraft(
        type="Requirement", name="蔵書検索機能", code="FR-001", aliases=("検索機能",), collection=default()
    )
    node = write_node(principal=local_operator(), draft=draft)
    assert node.public_id == GraphNode.objects.get(code="FR-001").public_id
    assert (node.name, "検索機能" in node.aliases) == ("蔵書検索機能", True)
    assert not delete_node(principal=local_operator(), node=node)
    assert GraphNode.objects.get(pk=node.pk).name == "FR-001"


def test_a_curated_node_survives_the_documents_and_goes_with_its_curator(project):
    draft = NodeDraft(type="Requirement", name="FR-500", code="FR-500", collection=default())
    node = write_node(principal=local_operator(), draft=draft)
    assert delete_node(principal=local_operator(), node=node)
    assert not GraphNode.objects.filter(code="FR-500").exists()
    with pytest.raises(InvalidInput):
        delete_node(principal=local_operator(), node=GraphNode.objects.get(code="FR-001"))


def test_edges_join_only_what_their_type_joins_and_only_for_curators(project):
    section, requirement = GraphNode.objects.get(name="3.2 性能"), GraphNode.objects.get(code="FR-003")
    edge = write_edge(principal=local_operator(), source=section, edge_type="TRACES_TO", target=requirement)
    settle()
    assert delete_edge(principal=local_operator(), edge=edge)
    with pytest.raises(InvalidInput, match="VALIDATES"):
        write_edge(principal=local_operator(), source=section, edge_type="VALIDATES", target=requirement)
    reader = principal_with(Role.READER, default())
    with pytest.raises(Forbidden):
        write_edge(principal=reader, source=section, edge_type="TRACES_TO", target=requirement)
    with pytest.raises(Forbidden):
        write_node(principal=reader, draft=NodeDraft(type="Concept", name="概念"))


def test_a_document_means_everybodys_node_by_a_name_that_a_curator_gave_it(tmp_path):
    draft = NodeDraft(type="Requirement", name="共通要件", code="C-COMMON", aliases=("FR-003",))
    node = write_node(principal=local_operator(), draft=draft)
    document = add(tmp_path, REQUIREMENTS, name="要件定義書.md", document_type="requirements")
    settle()
    own = GraphNode.objects.filter(code="FR-003", collection__slug="default")
    assert node.contributions.filter(document=document).exists()
    assert not own.exists()
    delete_node(principal=local_operator(), node=node)
    settle()
    assert own.exists()


@pytest.mark.parametrize("pattern", ["[", "", "a*", "(a+)+b", "(?:[0-9]*)*x"])
def test_a_pattern_that_can_not_be_used_is_refused(pattern):
    with pytest.raises(InvalidInput):
        check_pattern(pattern)


def test_a_pattern_is_saved_by_the_form_and_documents_are_read_again(project):
    client = client_of(make_user("佐藤", is_superuser=True))
    made = client.post(
        reverse("admin:knowledge_identifierpattern_add"),
        {"pattern": r"業-[0-9]{2}", "node_type": "Requirement", "is_active": "on", "note": ""},
    )
    assert made.status_code == 302
    assert IdentifierPattern.objects.count() == 1
    assert len(graph.take_due()) == 3


def test_lists_of_edges_and_their_types_are_in_words(project):
    client = client_of(make_user("佐藤", is_superuser=True))
    GraphEdge.objects.filter(pk=GraphEdge.objects.latest("pk").pk).update(properties={"mentions": 2})
    edges = client.get(reverse("admin:knowledge_graphedge_changelist")).content.decode()
    assert "文書での記載回数" in edges
    assert "mentions" not in edges
    types = client.get(reverse("admin:knowledge_edgetype_changelist")).content.decode()
    assert "文書 → 節" in types
    assert "Document → " not in types
