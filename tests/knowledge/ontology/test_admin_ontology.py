"""The curator's pages: versions as trees, import with preview, differences, publication, edits of drafts."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.access.services import principal_for_user
from knowledge.models import Collection, Ontology, OntologyClass, OntologyProperty
from knowledge.ontology import ontologies
from tests.factories import make_hub_curator, new_user
from tests.hub.admin.support import client_of, curator_client, grant, make_user, second_client
from tests.knowledge.ontology.test_rdf import FILES
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db
WHO = local_operator()
IMPORT = "admin:knowledge_ontology_import"


@pytest.fixture
def curator() -> Client:
    return curator_client()


@pytest.fixture
def draft() -> Ontology:
    return ontologies.draft_from(principal=WHO, domain="system_design")


def class_fields(row: OntologyClass, **changed: object) -> dict[str, object]:
    names: tuple[str, ...] = (
        "label_ja",
        "label_en",
        "definition_ja",
        "definition_en",
        "category",
        "severity",
        "position",
    )
    names += ("expected_location", "expected_location_en", "example", "example_polite")
    lists = ("synonyms", "cues", "exclusions", "elements_ja", "elements_en")
    return (
        {name: getattr(row, name) for name in names}
        | {name: "\n".join(getattr(row, name)) for name in lists}
        | {name: "on" for name in ("required", "whole_document", "is_topic") if getattr(row, name)}
        | {"parents": [parent.pk for parent in row.parents.all()]}
        | changed
    )


def class_page(row: OntologyClass) -> str:
    return reverse("admin:knowledge_ontologyclass_change", args=[row.pk])


def test_the_list_takes_the_same_queries_however_many_versions_there_are(curator, draft):
    page = reverse("admin:knowledge_ontology_changelist")
    with CaptureQueriesContext(connection) as few:
        assert curator.get(page).status_code == 200
    ontologies.draft_from(principal=WHO, domain="test_plan")
    with CaptureQueriesContext(connection) as more:
        shown = curator.get(page).content.decode()
    assert len(more) == len(few)
    assert "test_plan" in shown


def test_those_who_made_and_published_a_version_are_called_by_name_while_their_accounts_have_it(curator):
    person = make_hub_curator(new_user(username="hsato", last_name="佐藤", first_name="花子"))
    made = ontologies.draft_from(principal=principal_for_user(person), domain="system_design")
    published = make_hub_curator(new_user(username="suzuki", last_name="鈴木", first_name="一郎"))
    ontologies.publish_ontology(principal=principal_for_user(published), domain=made.domain, number=made.number)
    listing = reverse("admin:knowledge_ontology_changelist")
    pages = [listing, reverse("admin:knowledge_ontology_change", args=[made.pk])]
    for page in pages:
        shown = curator.get(page).content.decode()
        assert "佐藤 花子 (hsato)" in shown
        assert "鈴木 一郎 (suzuki)" in shown
    User.objects.filter(pk=person.pk).update(username="h.sato")
    new_user(username="hsato", last_name="田中", first_name="次郎")
    for page in pages:
        shown = curator.get(page).content.decode()
        assert "hsato" in shown
        assert "(hsato)" not in shown


def test_a_version_shows_its_classes_as_a_tree_with_a_class_below_each_of_its_parents(curator):
    published = ontologies.get_ontology(WHO, "system_design")
    shown = curator.get(reverse("admin:knowledge_ontology_change", args=[published.pk])).content.decode()
    security = published.classes.get(code="Security")
    assert shown.count(f'{class_page(security)}"') == security.parents.count() == 2
    assert "hub-tree" in shown
    assert "disjointWith" in shown
    tree = shown[shown.index('class="hub-tree"') :]
    parent = published.classes.get(code="Security").parents.first()
    name = re.escape(parent.label_ja)
    below = re.search(rf"<summary>{name} <code>.*?</summary>(.*?)<ul", tree, re.DOTALL)
    assert below is not None
    assert f'href="{class_page(parent)}"' in below[1]
    assert re.sub(r'<span class="hub-unseen">.*?</span>|<[^>]*>', "", below[1]).strip() == "クラスを開く"


def test_an_import_is_shown_before_it_is_stored_and_then_made_a_draft(curator):
    file = SimpleUploadedFile("clinic.owl", (FILES / "clinic.owl").read_bytes())
    shown = curator.post(reverse(IMPORT), {"domain": "clinic", "file": file, "preview": ""})
    text = shown.content.decode()
    assert not Ontology.objects.filter(domain="clinic").exists()
    assert "医師" in text
    assert "owl:propertyChainAxiom" in text
    applied = curator.post(reverse(IMPORT), {"domain": "clinic", "store": "draft", "carried": shown.context["carried"]})
    made = Ontology.objects.get(domain="clinic")
    assert applied.url == reverse("admin:knowledge_ontology_change", args=[made.pk])
    assert made.is_draft
    assert made.created_by == "担当"
    assert curator.get(applied.url).status_code == 200


def test_a_file_that_is_too_large_to_be_carried_is_chosen_again_where_the_preview_was_asked_for(curator, monkeypatch):
    monkeypatch.setattr("hub.admin_site.carried_file.MAX_CARRIED", 10)
    data = (FILES / "clinic.owl").read_bytes()
    asked = {"domain": "clinic", "file": SimpleUploadedFile("clinic.owl", data), "preview": ""}
    shown = curator.post(reverse(IMPORT), asked).content.decode()
    (buttons,) = re.findall(r'<button[^>]*name="store" value="draft"([^>]*)>', shown)
    assert 'form="hub-import"' in buttons
    form = re.search(r'<form[^>]*id="hub-import".*?</form>', shown, re.DOTALL)
    assert form is not None
    assert 'type="file"' in form[0]
    assert 'value="clinic"' in form[0]
    again = {"domain": "clinic", "file": SimpleUploadedFile("clinic.owl", data), "store": "draft"}
    made = curator.post(reverse(IMPORT), again)
    assert made.url == reverse("admin:knowledge_ontology_change", args=[Ontology.objects.get(domain="clinic").pk])


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"file": SimpleUploadedFile("a.txt", b"x")}, ".ttl"),
        ({"file": SimpleUploadedFile("a.ttl", b"this is no turtle")}, "turtle"),
        ({"carried": "%%%", "store": "draft"}, "hub-import"),
        ({}, "hub-import"),
    ],
)
def test_what_can_not_be_imported_is_told_on_the_page(curator, fields, told):
    shown = curator.post(reverse(IMPORT), {"domain": "yoken", **fields})
    assert shown.status_code == 200
    assert told in shown.content.decode()
    assert not Ontology.objects.filter(domain="yoken").exists()


def test_readers_look_and_do_not_change(draft):
    reader = make_user("閲覧")
    grant(reader, Role.READER, Collection.objects.get(slug="default"))
    client = client_of(reader)
    published = Ontology.objects.get(domain=draft.domain, status="published")
    assert client.get(reverse("admin:knowledge_ontology_change", args=[published.pk])).status_code == 200
    assert client.get(reverse("admin:knowledge_ontology_change", args=[draft.pk])).status_code == 404
    client.post(reverse("admin:knowledge_ontology_publish", args=[draft.pk]))
    client.post(reverse(IMPORT), {"domain": "yoken", "file": SimpleUploadedFile("a.ttl", b""), "store": "draft"})
    draft.refresh_from_db()
    assert draft.is_draft
    row = draft.classes.get(code="purpose")
    assert client.post(class_page(row), class_fields(row, label_ja="別名")).status_code != 200
    row.refresh_from_db()
    assert row.label_ja != "別名"
    listed = client.get(reverse("admin:knowledge_ontologyclass_changelist"), {"ontology__id__exact": draft.pk})
    assert list(listed.context["cl"].queryset) == []


def test_a_draft_is_edited_compared_and_published(curator, draft):
    row = draft.classes.get(code="purpose")
    assert curator.post(class_page(row), class_fields(row, synonyms="目的\n\n 狙い \n目的")).status_code == 302
    row.refresh_from_db()
    assert row.synonyms == ["目的", "狙い"]
    event = AuditEvent.objects.get(action="MASTER_CHANGE", details__ontology_class="purpose")
    assert event.details["changed"] == ["synonyms"]

    compared = curator.get(reverse("admin:knowledge_ontology_diff", args=[draft.pk]), {"base": "1"}).content.decode()
    assert "<strong>同義語</strong>" in compared
    assert "<ins>目的, 狙い</ins>" in compared

    second_client().post(reverse("admin:knowledge_ontology_publish", args=[draft.pk]))
    assert ontologies.get_ontology(WHO, "system_design").pk == draft.pk
    assert curator.post(class_page(row), class_fields(row, label_ja="別名")).status_code == 403
    retire = reverse("admin:knowledge_ontology_retire", args=[draft.pk])
    curator.post(retire)  # everybody would be without it
    draft.refresh_from_db()
    assert draft.retired_by == ""
    client_of(make_user("管理", is_superuser=True)).post(retire)
    draft.refresh_from_db()
    assert draft.retired_by == "管理"


def test_a_search_finds_by_a_new_name_as_soon_as_its_version_is_published(curator, draft):
    library = Library(slug="default")
    library.add("ごみ.md", ["粗大ごみは電話で申し込む。"])
    library.add("計画.md", ["大型の投資は議会に諮る。", "棄権は認めない。"])
    row = draft.classes.get(code="purpose")

    def found() -> list[str]:
        page = curator.get(reverse("admin:hub_search"), {"q": "大型廃棄物", "mode": "lexical"})
        return [one.hit.document_path for one in page.context_data["shown"].hits]

    curator.post(class_page(row), class_fields(row, label_ja="粗大ごみ", synonyms="大型廃棄物\n大型ごみ"))
    assert set(found()) == {"計画.md"}
    second_client().post(reverse("admin:knowledge_ontology_publish", args=[draft.pk]))
    assert found()[0] == "ごみ.md"
    client_of(make_user("管理", is_superuser=True)).post(reverse("admin:knowledge_ontology_retire", args=[draft.pk]))
    assert "ごみ.md" not in found()


def test_a_bad_pattern_is_named(curator, draft):
    row = draft.classes.get(code="purpose")
    shown = curator.post(class_page(row), class_fields(row, cues="正しい\n(壊れた")).content.decode()
    assert "「(壊れた」は正規表現として使えません" in shown


def test_classes_and_properties_are_added_to_a_draft_and_taken_out(curator, draft):
    above = draft.classes.get(code="Requirement")
    page = reverse("admin:knowledge_ontologyclass_add") + f"?ontology={draft.pk}"
    assert curator.get(page).status_code == 200
    asked = class_fields(OntologyClass(ontology=draft, severity="major", pk=0), label_ja="法令要件", label_en="Legal")
    sent = curator.post(page, asked | {"ontology": draft.pk, "code": "Legal", "parents": [above.pk]})
    assert sent.status_code == 302, sent.context["errors"]
    assert sent["Location"] == reverse("admin:knowledge_ontology_change", args=[draft.pk])
    made = draft.classes.get(code="Legal")
    assert made.iri == "urn:hub:ontology:system_design#Legal"
    assert list(made.parents.all()) == [above]

    page = reverse("admin:knowledge_ontologyproperty_add") + f"?ontology={draft.pk}"
    asked = {"ontology": draft.pk, "code": "demands", "kind": "object", "label_ja": "求める", "label_en": "demands"}
    sent = curator.post(page, asked | {"iri": "urn:x:demands", "domains": [made.pk]})
    assert sent.status_code == 302
    prop = OntologyProperty.objects.get(code="demands")
    assert list(prop.domains.all()) == [made]

    curator.post(reverse("admin:knowledge_ontologyclass_delete", args=[made.pk]), {"post": "yes"})
    assert not draft.classes.filter(code="Legal").exists()


def test_a_circle_of_parents_is_refused_with_the_reason(curator, draft):
    top, below = draft.classes.get(code="Requirement"), draft.classes.get(code="NonFunctionalRequirement")
    shown = curator.post(class_page(top), class_fields(top, parents=[below.pk]))
    assert "NonFunctionalRequirement" in str(shown.context["errors"])
    assert not top.parents.exists()


@pytest.mark.parametrize("rdf_format", ["rdfxml", "turtle", "jsonld"])
def test_every_version_is_exported_as_a_file(curator, rdf_format):
    published = ontologies.get_ontology(WHO, "guideline")
    got = curator.get(reverse("admin:knowledge_ontology_export", args=[published.pk, rdf_format]))
    assert got.status_code == 200
    assert "guideline-v1." in got["Content-Disposition"]
    assert "ガイドライン" in got.content.decode()
