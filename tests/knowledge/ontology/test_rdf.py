"""Files of other tools and our own: read and written without loss, refused where they would reach out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import owlready2
import pytest
from django.utils import translation
from rdflib import Graph
from rdflib.compare import isomorphic

from hub.core.errors import InvalidInput, LimitExceeded
from knowledge.ontology import rdf_files
from knowledge.ontology.difference import difference
from knowledge.ontology.facts import ClassKind
from knowledge.ontology.rdf_files import format_of, read_graph, write_graph
from knowledge.ontology.rdf_mapping import facts_of, graph_of
from knowledge.ontology.shipped_files import shipped_ontologies
from knowledge.ontology.vocabulary import kept_only

FILES = Path(__file__).resolve().parent / "files"
NAMES = ("library_terms.ttl", "clinic.owl", "places.jsonld")
PUBLIC = (
    FILES / "resource_types.ttl",  # SKOS, of the KIM group of DINI (CC0): see README.md
    Path(owlready2.__file__).parent / "ontos" / "dcterms.owl",  # DCMI Metadata Terms, in RDFS
)
FORMATS = sorted(rdf_files.FORMATS)
SHIPPED = {facts.domain: facts for _version, facts in shipped_ontologies()}


def graph_in(name: str) -> Graph:
    rdf_format = format_of(filename=name)
    assert rdf_format
    return read_graph((FILES / name).read_bytes(), rdf_format=rdf_format, domain="test")


@pytest.mark.parametrize("rdf_format", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_what_another_tool_wrote_comes_out_as_it_went_in(name, rdf_format):
    graph = graph_in(name)
    facts = facts_of(graph, domain="test")
    written = write_graph(graph_of(facts), rdf_format=rdf_format)

    again = read_graph(written, rdf_format=rdf_format, domain="test")

    assert len(graph) > 15
    assert isomorphic(again, graph)
    assert difference(facts, facts_of(again, domain="test")).is_same


@pytest.mark.parametrize("rdf_format", FORMATS)
@pytest.mark.parametrize("domain", sorted(SHIPPED))
def test_the_shipped_ontologies_come_back_from_every_format(domain, rdf_format):
    facts = SHIPPED[domain]
    written = write_graph(graph_of(facts), rdf_format=rdf_format)

    again = read_graph(written, rdf_format=rdf_format, domain=domain)

    assert isomorphic(again, graph_of(facts))
    found = difference(facts, facts_of(again, domain=domain))
    assert found.is_same, found


@pytest.mark.parametrize("path", PUBLIC, ids=lambda path: path.name)
def test_public_vocabularies_come_back_from_every_format(path):
    graph = read_graph(path.read_bytes(), rdf_format=format_of(filename=path.name) or "", domain="test")
    facts = facts_of(graph, domain="test")

    assert len(facts.classes) > 20
    assert {each.term for each in kept_only(graph)} <= {"owl:imports"}
    for rdf_format in FORMATS:
        written = write_graph(graph_of(facts), rdf_format=rdf_format)
        assert isomorphic(read_graph(written, rdf_format=rdf_format, domain="test"), graph)


@pytest.mark.parametrize("domain", sorted(SHIPPED))
def test_owlready2_reads_what_we_write(domain, tmp_path):
    facts = SHIPPED[domain]
    path = tmp_path / "export.rdf"
    path.write_bytes(write_graph(graph_of(facts), rdf_format="rdfxml"))

    with path.open("rb") as file:
        read = owlready2.World().get_ontology(f"urn:hub:ontology:{domain}#").load(fileobj=file)

    assert {row.iri for row in facts.classes} <= {each.iri for each in read.classes()}
    assert {row.iri for row in facts.properties} <= {each.iri for each in read.properties()}


def test_concepts_classes_and_properties_are_recognised_in_each_style():
    skos = {row.code: row for row in facts_of(graph_in("library_terms.ttl"), domain="test").classes}
    assert skos["B"].kind is ClassKind.CONCEPT
    assert (skos["B"].label_ja, skos["B"].label_en) == ("図書", "book")
    assert skos["B"].parents == ("https://example.org/library/terms/material",)
    assert set(skos["B"].synonyms) == {"本", "単行本"}

    owl = facts_of(graph_in("clinic.owl"), domain="test")
    assert (owl.name_ja, owl.name_en) == ("診療所", "Clinic")
    assert {row.code for row in owl.classes} == {"Person", "Doctor", "Patient", "Visitor", "Room"}
    by_code = {row.code: row for row in owl.properties}
    assert by_code["treats"].inverse_of == "https://example.org/clinic#treatedBy"
    assert by_code["supervises"].is_transitive
    assert by_code["licence"].datatype.endswith("#string")

    rdfs = {row.code: row for row in facts_of(graph_in("places.jsonld"), domain="test").classes}
    assert rdfs["Ward"].parents == ("https://example.org/places#City", "https://example.org/places#Place")
    assert rdfs["Ward"].label_ja == "Ward"


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        (
            "library_terms.ttl",
            {"skos:Collection", "skos:member", "skos:related", "skos:exactMatch", "skos:hiddenLabel"},
        ),
        ("clinic.owl", {"owl:imports", "owl:propertyChainAxiom", "owl:someValuesFrom", "owl:unionOf"}),
        ("places.jsonld", {"rdf:Seq", "rdf:_1", "rdf:_2"}),
    ],
)
def test_every_construct_that_is_only_kept_is_named(name, terms):
    named = {each.term for each in kept_only(graph_in(name))}
    assert terms <= named
    assert not named & {"rdfs:subClassOf", "owl:inverseOf", "skos:broader", "owl:minCardinality"}


def test_relative_names_belong_to_the_domain():
    text = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#">'
    )
    text += '<owl:Class rdf:about="#NonFunctionalRequirement"/></rdf:RDF>'
    facts = facts_of(read_graph(text.encode(), rdf_format="rdfxml", domain="system_design"), domain="system_design")
    assert facts.classes[0].iri == "urn:hub:ontology:system_design#NonFunctionalRequirement"


def test_a_difference_names_classes_fields_and_other_statements():
    old = facts_of(graph_in("clinic.owl"), domain="test")
    changed = replace(old.classes[0], label_ja="医者", parents=())
    graph = graph_of(replace(old, classes=(changed, *old.classes[1:-1])))
    graph.parse(data="@prefix : <https://example.org/clinic#> . :sato a [ :a 1 ] .", format="turtle")

    found = difference(old, facts_of(graph, domain="test"))

    assert [row.code for row in found.classes.removed] == [old.classes[-1].code]
    assert [(row.code, {each.field for each in row.changes}) for row in found.classes.changed] == [
        ("Doctor", {"label_ja", "parents"})
    ]
    assert any("sato" in line and "[ " in line for line in found.statements_added)


ENTITIES = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><r>&b;</r>'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]><r>&a;</r>'


@pytest.mark.parametrize(
    ("text", "rdf_format", "told"),
    [
        (ENTITIES, "rdfxml", "entity"),
        (ENTITIES, "rdfxml", "b:"),
        (OUTSIDE, "rdfxml", "entity a"),
        ("<r>", "rdfxml", "rdfxml"),
        ('{"@context": "http://192.0.2.1/c.jsonld", "@id": "urn:a"}', "jsonld", "none is fetched"),
        ('{"@context": [{"@import": "http://192.0.2.1/c"}], "@id": "urn:a"}', "jsonld", "none is fetched"),
        ("[" * 100_000, "jsonld", "jsonld"),
        ("<urn:a> <urn:b> " + "[ <urn:c> " * 20_000, "turtle", "turtle"),
        ("これは RDF ではない", "turtle", "turtle"),
        ("<urn:a b> <urn:b> <urn:c> .", "turtle", "IRI"),
        ("\ufeff\x00", "turtle", "turtle"),
    ],
)
def test_a_file_that_reaches_out_or_is_broken_is_refused_with_the_reason(text, rdf_format, told):
    with pytest.raises(InvalidInput, match=told):
        read_graph(text.encode(), rdf_format=rdf_format, domain="test")


def test_a_file_over_the_limit_is_refused(monkeypatch):
    with pytest.raises(LimitExceeded):
        read_graph(b" " * (rdf_files.MAX_BYTES + 1), rdf_format="turtle", domain="test")
    monkeypatch.setattr(rdf_files, "MAX_TRIPLES", 3)
    with translation.override("en"), pytest.raises(LimitExceeded, match="statements"):
        graph_in("places.jsonld")


def test_every_shipped_class_is_labelled_in_both_languages_with_five_other_words():
    for facts in SHIPPED.values():
        for row in facts.classes:
            assert row.label_ja, row.code
            assert row.label_en.isascii(), row.code
            assert len(set(row.synonyms)) >= 5, row.code
