"""Ontologies over REST: negotiation, import, inference, coverage with evidence, and who may do what."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rdflib.compare import isomorphic

from hub.access.principals import ALL_SCOPES, Role, Scope, local_operator
from hub.access.services import authenticate, create_token
from hub.access.turns import caller_name
from knowledge import document_checks
from knowledge.models import Collection
from knowledge.ontology.rdf_files import read_graph
from knowledge.ontology.rdf_mapping import graph_of
from tests.factories import upload_text, work_through
from tests.hub.admin.support import grant, make_user
from tests.knowledge.ontology.test_rdf import FILES, SHIPPED

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
DESIGN = """# 図書館システム基本設計書

## 1 目的

本書は図書館システムの基本設計を示す。

## 2 性能要件

検索の応答時間は3秒以内とする。

### 2.2 同時利用

100人が同時に使えること。

### 2.1 応答時間

3秒以内とする。

#### 3.1.1 移行

## 3 セキュリティ

## 4 その他

バックアップについては今後検討する。
"""


def caller(token: str) -> Any:
    client = Client()

    def ask(method: str, path: str, body: object = b"", content_type: str = "application/json", **headers: str) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {token}", "Accept-Language": "ja"} | headers
        return client.generic(method, f"/api/v1{path}", data, content_type=content_type, headers=sent)

    return ask


@pytest.fixture
def call():
    user = User.objects.create_superuser("管理者")
    return caller(create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1])


@pytest.fixture
def document(tmp_path):
    made = upload_text(local_operator(), tmp_path, DESIGN, document_type="basic_design").document
    return work_through(made).public_id


@pytest.mark.parametrize(
    ("accept", "content_type", "rdf_format"),
    [
        ("application/rdf+xml", "application/rdf+xml", "rdfxml"),
        ("text/turtle", "text/turtle", "turtle"),
        ("application/ld+json", "application/ld+json", "jsonld"),
        ("application/json", "application/ld+json", "jsonld"),
        ("*/*", "text/turtle", "turtle"),
        ("application/ld+json;q=0.5, application/rdf+xml", "application/rdf+xml", "rdfxml"),
    ],
)
def test_a_domain_comes_in_the_format_that_was_asked_for(call, accept, content_type, rdf_format):
    got = call("GET", "/ontologies/test_plan", Accept=accept)
    assert got.status_code == 200
    assert got["Content-Type"].startswith(content_type)
    assert isomorphic(
        read_graph(got.content, rdf_format=rdf_format, domain="test_plan"), graph_of(SHIPPED["test_plan"])
    )


def test_what_can_not_be_had_or_read_says_what_can(call):
    assert call("GET", "/ontologies/test_plan", Accept="image/png").status_code == 406
    refused = call("PUT", "/ontologies/yoken", b"x", "image/png")
    assert (refused.status_code, "text/turtle" in refused.json()["detail"]) == (415, True)
    broken = call("PUT", "/ontologies/yoken", b"this is no turtle", "text/turtle")
    assert (broken.status_code, broken.json()["code"]) == (422, "unreadable_ontology")
    assert call("GET", "/ontologies/nichts").status_code == 404
    assert call("GET", "/ontologies/test_plan?version=draft").status_code == 404


def test_the_list_has_every_version_with_its_counts(call, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        items = call("GET", "/ontologies").json()["items"]
    facts = {item["domain"]: item for item in items}
    assert set(facts) == {"guideline", "system_design", "test_plan"}
    assert facts["system_design"]["topics_count"] == 15
    assert facts["system_design"]["iri"] == "urn:hub:ontology:system_design"


def test_an_import_is_previewed_drafted_and_published(call):
    data = (FILES / "clinic.owl").read_bytes()
    send = lambda query: call("PUT", f"/ontologies/clinic{query}", data, "application/rdf+xml").json()  # noqa: E731
    preview = send("?preview=true")
    assert (preview["version"], preview["status"]) == (None, "preview")
    assert call("GET", "/ontologies/clinic?version=draft").status_code == 404

    draft = send("")
    assert (draft["version"], draft["status"], draft["compared_with"]) == (1, "draft", None)
    assert {row["code"] for row in draft["difference"]["classes"]["added"]} >= {"Doctor", "Patient"}
    assert "owl:imports" in {each["term"] for each in draft["kept_only"]}
    assert call("GET", "/ontologies/clinic").status_code == 404
    written = call("GET", "/ontologies/clinic?version=draft", Accept="application/ld+json").content
    original = read_graph(data, rdf_format="rdfxml", domain="clinic")
    assert isomorphic(read_graph(written, rdf_format="jsonld", domain="clinic"), original)

    assert send("?publish=true")["status"] == "published"
    assert call("GET", "/ontologies/clinic?version=1").status_code == 200
    assert call("GET", "/ontologies/clinic/diff?base=1").json()["is_same"]


def test_facts_are_inferred_with_chains_and_contradictions_are_explained(call):
    asked = {"inference_type": "subclass", "target_class": "hub:NonFunctionalRequirement"}
    got = call("POST", "/ontologies/system_design/reason", asked).json()
    base = "urn:hub:ontology:system_design#"
    facts = {
        (fact["subject"], fact["predicate"].rpartition("#")[2], fact["object"]): fact for fact in got["inferred_facts"]
    }
    fact = facts[f"{base}PerformanceRequirement", "subClassOf", f"{base}NonFunctionalRequirement"]
    assert fact["confidence"] == 1.0
    assert fact["chain"][-1].startswith(
        "hub:PerformanceRequirement rdfs:subClassOf hub:NonFunctionalRequirement [scm-sco]"
    )
    assert got["consistency_result"] is True

    data = (FILES / "clinic.owl").read_bytes()
    call("PUT", "/ontologies/clinic?publish=true", data, "application/rdf+xml")
    got = call("POST", "/ontologies/clinic/reason", {"inference_type": "consistency"}).json()
    assert got["consistency_result"] is False
    assert [violation["kind"] for violation in got["violations"]] == ["min_cardinality"]
    assert "1 件以上" in got["violations"][0]["description"]
    got = call("POST", "/ontologies/clinic/reason", {"inference_type": "property"}).json()
    assert ("tanaka", "treatedBy", "sato") in {
        tuple(fact[name].partition("#")[2] for name in ("subject", "predicate", "object"))
        for fact in got["inferred_facts"]
    }


@pytest.mark.parametrize("target", ["nfr_performance", "<urn:hub:ontology:system_design#Performance>", "hub:Security"])
def test_a_class_is_named_by_iri_prefixed_name_or_code(call, target):
    asked = {"inference_type": "subclass", "target_class": target}
    assert call("POST", "/ontologies/system_design/reason", asked).json()["inferred_facts"]


@pytest.mark.parametrize(
    "asked",
    [
        {"inference_type": "magic"},
        {"inference_type": "subclass", "target_class": "hub:Nothing"},
        {"inference_type": "subclass", "depth": 0},
        {"inference_type": "subclass", "target_class": "x" * 501},
        {},
    ],
)
def test_a_question_that_makes_no_sense_is_422(call, asked):
    assert call("POST", "/ontologies/system_design/reason", asked).status_code == 422


def test_coverage_names_what_is_missing_with_the_evidence_that_decided(call, document):
    got = call("POST", "/ontologies/system_design/coverage", {"document_id": document, "check_type": "coverage"}).json()
    statuses = {item["code"]: item for item in got["required_items_status"]}
    assert statuses["nfr_performance"]["found"] is True
    assert statuses["nfr_performance"]["evidence"]["quote"] == "## 2 性能要件"
    assert statuses["nfr_performance"]["location"].endswith("2 性能要件")
    missing = {item["code"]: item for item in got["missing_items"]}
    assert missing["nfr_security"]["status"] == "empty"
    assert missing["nfr_security"]["evidence"]["line_range"]
    assert missing["data_design"]["status"] == "missing"
    assert missing["data_design"]["severity"] in {"critical", "major", "minor", "info"}
    nearest = missing["data_design"]["nearest"]
    passage = nearest["passage"]
    assert passage["quote"] == DESIGN[passage["start_offset"] : passage["end_offset"]]
    assert -1 <= nearest["similarity"] <= 1
    assert missing["nfr_security"]["nearest"] is None
    assert got["notices"] == []
    treated = sum(item["found"] for item in statuses.values())
    assert got["coverage_rate"] == round(100 * treated / 15, 1)
    for item in got["required_items_status"]:
        if evidence := item["evidence"]:
            assert evidence["quote"] == DESIGN[evidence["start_offset"] : evidence["end_offset"]]


def test_hierarchy_finds_skipped_levels_wrong_parents_and_wrong_order(call, document):
    got = call(
        "POST", "/ontologies/system_design/coverage", {"document_id": document, "check_type": "hierarchy"}
    ).json()
    assert [(issue["issue_type"], issue["evidence"]["quote"]) for issue in got["hierarchy_issues"]] == [
        ("wrong_order", "### 2.1 応答時間"),
        ("wrong_parent", "#### 3.1.1 移行"),
    ]
    assert got["missing_items"] == []


def test_required_judges_the_required_topics_only(call, document, tmp_path):
    guideline = upload_text(local_operator(), tmp_path, DESIGN, name="指針.md", document_type="guideline").document
    asked = {"document_id": work_through(guideline).public_id, "check_type": "required"}
    got = call("POST", "/ontologies/guideline/coverage", asked).json()
    assert all(item["required"] for item in got["required_items_status"])
    every = call("POST", "/ontologies/guideline/coverage", {**asked, "check_type": "coverage"}).json()
    assert len(every["required_items_status"]) > len(got["required_items_status"]) > 0


def test_a_hidden_document_answers_like_an_unknown_one_and_a_reader_changes_nothing(document):
    stranger = make_user("他人")
    ask = caller(
        create_token(principal=local_operator(), user=stranger, name="t", scopes=ALL_SCOPES - {Scope.ADMIN})[1]
    )
    answers = [
        ask("POST", "/ontologies/system_design/coverage", {"document_id": one, "check_type": "coverage"})
        for one in (document, "doc_" + "x" * (len(document) - 4))
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert answers[0].json()["code"] == answers[1].json()["code"]
    assert ask("PUT", "/ontologies/yoken", b"", "text/turtle").status_code == 403
    grant(stranger, Role.READER, Collection.objects.get(slug="default"))
    asked = {"document_id": document, "check_type": "coverage"}
    assert ask("POST", "/ontologies/system_design/coverage", asked).status_code == 200
    assert ask("PUT", "/ontologies/yoken", b"", "text/turtle").status_code == 403


def test_checks_of_one_caller_wait_for_each_other_and_another_s_are_answered(call, document):
    reader = make_user("heidi")
    grant(reader, Role.READER, Collection.objects.get(slug="default"))
    token = create_token(principal=local_operator(), user=reader, name="t", scopes=frozenset({Scope.READ}))[1]
    turns, owner = document_checks._turns.get(), authenticate(token)
    reason, consistency = "/ontologies/system_design/reason", {"inference_type": "consistency"}
    coverage = "/ontologies/system_design/coverage", {"document_id": document}
    with turns.taken_by(owner):
        turns._calls[caller_name(owner)] += 3  # which wait for the first
        try:
            refused = [caller(token)("POST", reason, consistency), caller(token)("POST", *coverage)]
            assert [(each.status_code, each.json()["code"]) for each in refused] == [(429, "too_many_at_once")] * 2
            assert [call("POST", *asked).status_code for asked in ((reason, consistency), coverage)] == [200] * 2
        finally:
            turns._calls[caller_name(owner)] -= 3
