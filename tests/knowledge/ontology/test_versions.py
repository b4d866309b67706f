"""Versions through the services: drafts, publication, immutability, imports, edits by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation
from rdflib.compare import isomorphic

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Role, Scope, local_operator
from hub.access.versions import PublicationStatus
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.models import Collection, Ontology, OntologyClass
from knowledge.ontology import editing, ontologies, shape_checks, store
from knowledge.ontology.ontologies import import_ontology
from knowledge.ontology.rdf_files import read_graph
from knowledge.ontology.rdf_mapping import graph_of
from knowledge.ontology.store import topics_for, topics_of
from knowledge.shipped import load_shipped_content
from tests.factories import hub_curator, principal_with
from tests.knowledge.ontology.test_rdf import FILES, SHIPPED
from tests.shipped_topics import load_topics

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _in_english():
    with translation.override("en"):
        yield


WHO = local_operator()
TURTLE = """@prefix hub: <urn:hub:ontology:yoken#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
hub:Requirement a owl:Class ; rdfs:label "要件" .
hub:Performance a owl:Class ; rdfs:subClassOf hub:Requirement ; rdfs:label "性能"@ja ; skos:altLabel "応答" ."""


def put(text: str = TURTLE, *, domain: str = "yoken", publish: bool = False):
    return import_ontology(principal=WHO, domain=domain, data=text.encode(), rdf_format="turtle", publish=publish)


@pytest.mark.parametrize("domain", sorted(SHIPPED))
def test_what_ships_is_stored_as_it_is_in_the_files(domain):
    stored = ontologies.get_ontology(WHO, domain)
    assert stored.status == PublicationStatus.PUBLISHED
    assert isomorphic(graph_of(store.load_facts(stored)), graph_of(SHIPPED[domain]))


def test_checks_see_the_topics_of_the_files_and_nothing_else():
    assert topics_for("system_design") == load_topics("basic_design")
    assert topics_for("test_plan") == load_topics("test_plan")


def test_topics_are_read_once_and_again_after_a_change():
    domains = ("test_plan", "system_design")
    kept = topics_of(domains)
    assert kept == (*topics_for("test_plan"), *topics_for("system_design"))
    with CaptureQueriesContext(connection) as captured:
        assert topics_of(domains) is kept
    assert len(captured) == 1
    OntologyClass.objects.filter(ontology__domain="test_plan", code=kept[0].code).update(label_ja="別の名")
    assert topics_of(domains)[0] == replace(kept[0], label_ja="別の名")


def test_loading_what_ships_again_adds_nothing():
    before = set(Ontology.objects.values_list("pk", flat=True))
    load_shipped_content()
    assert set(Ontology.objects.values_list("pk", flat=True)) == before


def test_a_newer_shipped_version_is_a_draft_beside_what_is_in_use():
    Ontology.objects.filter(domain="guideline").update(shipped_version="0.9")
    load_shipped_content()
    states = Ontology.objects.filter(domain="guideline").order_by("number").values_list("number", "status")
    assert list(states) == [(1, "published"), (2, "draft")]


def test_reading_a_version_takes_the_same_queries_whatever_its_size():
    for domain in ("guideline", "system_design"):
        ontology = ontologies.get_ontology(WHO, domain)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            store.load_facts(ontology)
        assert len(queries) == 6


def test_an_import_is_a_draft_until_it_is_published_and_the_one_before_is_retired():
    first, preview = put(publish=True)
    assert (first.number, first.status, first.published_by) == (1, "published", "operator")
    assert [row.code for row in preview.difference.classes.added] == ["Performance", "Requirement"]

    second, preview = put(TURTLE.replace('"性能"@ja', '"性能要件"@ja'))
    assert (second.number, second.status) == (2, "draft")
    assert [(row.code, {each.field for each in row.changes}) for row in preview.difference.classes.changed] == [
        ("Performance", {"label_ja", "label_en"})  # there is no English label: the Japanese one stands in for it
    ]
    assert ontologies.get_ontology(WHO, "yoken").number == 1
    assert ontologies.get_ontology(WHO, "yoken", "draft").number == 2

    ontologies.publish_ontology(principal=WHO, domain="yoken", number=2)
    first.refresh_from_db()
    assert (first.status, first.retired_by) == ("retired", "operator")
    assert first.retired_at is not None
    events = AuditEvent.objects.filter(resource="ontology:yoken").order_by("pk").values_list("action", flat=True)
    assert list(events) == ["ONTOLOGY_IMPORT", "ONTOLOGY_PUBLISH", "ONTOLOGY_IMPORT", "ONTOLOGY_PUBLISH"]


def test_the_same_file_again_makes_no_new_version():
    draft, _preview = put()
    assert put()[0].pk == draft.pk
    published, _preview = put(publish=True)
    assert published.pk == draft.pk
    assert put(publish=True)[0].pk == draft.pk
    assert Ontology.objects.filter(domain="yoken").count() == 1


@pytest.mark.parametrize("name", ["library_terms.ttl", "clinic.owl", "places.jsonld"])
def test_what_is_stored_of_a_file_is_exported_as_the_file_says(name):
    rdf_format = {"ttl": "turtle", "owl": "rdfxml", "jsonld": "jsonld"}[name.rpartition(".")[2]]
    data = (FILES / name).read_bytes()
    stored, _preview = import_ontology(principal=WHO, domain="other", data=data, rdf_format=rdf_format)
    written = ontologies.export_ontology(WHO, "other", rdf_format="turtle", version=str(stored.number))
    original = read_graph(data, rdf_format=rdf_format, domain="other")
    assert isomorphic(read_graph(written, rdf_format="turtle", domain="other"), original)
    assert stored.kept_only


def test_a_published_version_is_not_edited_and_its_copy_is():
    published, _preview = put(publish=True)
    row = published.classes.get(code="Requirement")
    with pytest.raises(Conflict, match="does not change"):
        editing.save_entry(principal=WHO, row=row, changed=["label_ja"])
    draft = ontologies.draft_from(principal=WHO, domain="yoken")
    copy = draft.classes.get(code="Requirement")
    copy.label_ja = "要求"
    editing.save_entry(principal=WHO, row=copy, changed=["label_ja"])
    editing.delete_entry(principal=WHO, row=draft.classes.get(code="Performance"))
    found = ontologies.compare_versions(WHO, "yoken", "1", "2")
    assert [row.code for row in found.classes.removed] == ["Performance"]
    assert ("label_ja", "要件", "要求") in {
        (each.field, each.before, each.after) for row in found.classes.changed for each in row.changes
    }
    written = ontologies.export_ontology(WHO, "yoken", rdf_format="turtle", version="2").decode()
    assert '"要求"@ja' in written
    assert '"要件"' not in written.replace('"要件"@en', "")
    with pytest.raises(Conflict, match="only drafts"):
        ontologies.publish_ontology(principal=WHO, domain="yoken", number=1)


def test_a_class_is_not_put_below_itself():
    draft, _preview = put()
    top, below = draft.classes.get(code="Requirement"), draft.classes.get(code="Performance")
    with pytest.raises(InvalidInput, match="below it already"):
        editing.set_parents(principal=WHO, row=top, parents=[below])
    foreign = OntologyClass.objects.exclude(ontology=draft).earliest("pk")
    with pytest.raises(InvalidInput, match="another version"):
        editing.set_parents(principal=WHO, row=top, parents=[foreign])


def test_only_curators_change_ontologies_and_everyone_who_may_read_sees_them():
    shelf = Collection.objects.get(slug="default")
    reader, curator = principal_with(Role.CURATOR, shelf), hub_curator()
    data = TURTLE.encode()
    with pytest.raises(Forbidden):
        import_ontology(principal=reader, domain="yoken", data=data, rdf_format="turtle")
    limited = replace(curator, scopes=ALL_SCOPES - {Scope.CURATE})
    with pytest.raises(Forbidden):
        ontologies.preview_import(limited, "yoken", data, rdf_format="turtle")
    import_ontology(principal=curator, domain="yoken", data=data, rdf_format="turtle")
    second = hub_curator()
    import_ontology(principal=second, domain="yoken", data=data, rdf_format="turtle", publish=True)
    assert ontologies.get_ontology(reader, "yoken").published_by == second.name


def test_drafts_are_read_by_those_who_may_change_them():
    reader = principal_with(Role.ADMINISTRATOR, Collection.objects.get(slug="default"))
    put()
    for version in ("draft", "1"):
        with pytest.raises(NotFound) as hidden:
            ontologies.get_ontology(reader, "yoken", version)
        with pytest.raises(NotFound) as unknown:
            ontologies.get_ontology(reader, "yokex", version)
        assert str(hidden.value).replace("yoken", "yokex") == str(unknown.value)
        assert ontologies.get_ontology(hub_curator(), "yoken", version).number == 1
    assert "yoken" not in {row.domain for row in ontologies.list_ontologies(reader)}
    assert "yoken" in {row.domain for row in ontologies.list_ontologies(hub_curator())}
    with pytest.raises(NotFound):
        ontologies.export_ontology(reader, "yoken", rdf_format="turtle", version="draft")


@pytest.mark.parametrize("version", ["draft", "99", "x", "-1", "9" * 30, "１"])
def test_an_unknown_version_is_not_found(version):
    with pytest.raises(NotFound, match="system_design"):
        ontologies.get_ontology(WHO, "system_design", version)


@pytest.mark.parametrize("domain", ["", "Yoken", "要件", "a b", "a/b", "x" * 61])
def test_a_domain_that_is_no_name_is_refused(domain):
    with pytest.raises(InvalidInput, match="no name of a domain"):
        put(domain=domain)


def test_shapes_of_an_import_are_checked_and_scripts_in_them_are_not_run(django_capture_on_commit_callbacks):
    shapes = (
        TURTLE
        + """
    @prefix sh: <http://www.w3.org/ns/shacl#> .
    hub:fr1 a hub:Requirement . hub:fr2 a hub:Requirement ; rdfs:label "検索" .
    hub:Shape a sh:NodeShape ; sh:targetClass hub:Requirement ;
      sh:property [ sh:path rdfs:label ; sh:minCount 1 ; sh:message "要件には名前が必要です"@ja , "needs a name"@en ] ;
      sh:sparql [ sh:select "SELECT $this WHERE { SERVICE <http://192.0.2.1/> { $this ?p ?o } }" ] ."""
    )
    draft, preview = put(shapes)
    draft.refresh_from_db()
    assert draft.shapes_report["pending"]
    shape_checks.check_shapes(draft.pk)
    draft.refresh_from_db()
    report = draft.shapes_report
    assert (report["conforms"], report["total"]) == (False, 1)
    assert report["results"][0]["message"] == "要件には名前が必要です"
    assert report["results"][0]["focus"].endswith("#fr1")
    assert "sparql" in report["not_run"]
    assert "sh:NodeShape" in {each.term for each in preview.kept_only}


def test_a_shape_whose_pattern_takes_forever_is_stopped_and_the_report_names_it(monkeypatch):
    """Each repeated piece of it alone is read at once, so it is let in."""
    monkeypatch.setattr(shape_checks, "LIMITS", replace(shape_checks.LIMITS, cpu_s=2))
    data = "xy" * 40
    shapes = (
        TURTLE
        + f"""
    @prefix sh: <http://www.w3.org/ns/shacl#> .
    hub:fr1 a hub:Requirement ; rdfs:label "{data}" .
    hub:Shape a sh:NodeShape ; sh:targetClass hub:Requirement ;
      sh:property [ sh:path rdfs:label ; sh:pattern "^(?:xy|x|y)*[!?]" ] ."""
    )
    draft, _preview = put(shapes)
    shape_checks.check_shapes(draft.pk)
    draft.refresh_from_db()
    assert "stopped after 2 s" in draft.shapes_report["error"]
    assert "^(?:xy|x|y)*[!?]" in draft.shapes_report["error"]


def test_a_check_of_shapes_that_lost_its_worker_is_asked_for_again_and_given_up_after_three_attempts():
    draft, _preview = put(TURTLE + " @prefix sh: <http://www.w3.org/ns/shacl#> . hub:Shape a sh:NodeShape .")
    assert shape_checks.lost_checks() == []
    for attempt in range(shape_checks.MAX_ATTEMPTS):
        long_ago = (timezone.now() - shape_checks.LOST_AFTER * 2).isoformat()
        waiting = {"pending": True, "attempts": attempt, "since": long_ago}
        Ontology.objects.filter(pk=draft.pk).update(shapes_report=waiting)
        assert shape_checks.lost_checks() == [draft.pk]
    Ontology.objects.filter(pk=draft.pk).update(shapes_report=waiting | {"attempts": shape_checks.MAX_ATTEMPTS})

    shape_checks.check_shapes(draft.pk)

    draft.refresh_from_db()
    assert "3 attempts" in draft.shapes_report["error"]
    assert shape_checks.lost_checks() == []
    shape_checks.check_shapes(draft.pk)
    draft.refresh_from_db()
    assert "3 attempts" in draft.shapes_report["error"]
