"""From the hub's classes and properties to RDF."""

from __future__ import annotations

from collections.abc import Iterator

from rdflib import Graph, Literal, URIRef
from rdflib.namespace import OWL, RDF, RDFS, SKOS
from rdflib.term import Node

from knowledge.ontology.facts import ClassFacts, ClassKind, OntologyFacts, PropertyFacts
from knowledge.ontology.rdf_files import from_ntriples
from knowledge.ontology.rdf_mapping import (
    CHARACTERISTICS,
    CLASS_TYPES,
    FLAG_FIELDS,
    LINE_FIELDS,
    PROPERTY_TYPES,
    SET_FIELDS,
    TEXT_FIELDS,
    language_of,
)
from knowledge.ontology.vocabulary import HUBV, local_name, ontology_iri, prefixes_of

Triple = tuple[Node, Node, Node]


def graph_of(facts: OntologyFacts) -> Graph:
    """The graph that an export writes."""
    graph = modelled(facts)
    for triple in from_ntriples(facts.suppressed):
        graph.remove(triple)
    for triple in from_ntriples(facts.remainder):
        graph.add(triple)
    for prefix, base in prefixes_of(facts.domain, facts.prefixes).items():
        graph.bind(prefix, base, override=True, replace=True)
    return graph


def modelled(facts: OntologyFacts) -> Graph:
    """The statements that the facts alone make; no blank nodes."""
    graph = Graph(store="SimpleMemory", bind_namespaces="none")
    for triple in _ontology_triples(facts):
        graph.add(triple)
    for row in facts.classes:
        for triple in _class_triples(row):
            graph.add(triple)
    for prop in facts.properties:
        for triple in _property_triples(prop):
            graph.add(triple)
    return graph


def _ontology_triples(facts: OntologyFacts) -> Iterator[Triple]:
    node = URIRef(ontology_iri(facts.domain))
    yield node, RDF.type, OWL.Ontology
    yield from _labelled(node, RDFS.label, facts.name_ja, facts.name_en)
    for code in facts.document_types:
        yield node, HUBV.documentType, Literal(code)


def _class_triples(row: ClassFacts) -> Iterator[Triple]:
    node = URIRef(row.iri)
    is_concept = row.kind is ClassKind.CONCEPT
    yield node, RDF.type, CLASS_TYPES[row.kind]
    yield from _labelled(node, SKOS.prefLabel if is_concept else RDFS.label, row.label_ja, row.label_en)
    if row.code != local_name(row.iri):
        yield node, SKOS.notation, Literal(row.code)
    for synonym in row.synonyms:
        yield node, SKOS.altLabel, Literal(synonym, lang=language_of(synonym))
    for parent in row.parents:
        yield node, SKOS.broader if is_concept else RDFS.subClassOf, URIRef(parent)
    yield from _coverage_triples(node, row)


def _coverage_triples(node: URIRef, row: ClassFacts) -> Iterator[Triple]:
    for name, predicate in FLAG_FIELDS.items():
        if getattr(row, name):
            yield node, predicate, Literal(True)
    for name, (predicate, language) in TEXT_FIELDS.items():
        if getattr(row, name):
            yield node, predicate, Literal(getattr(row, name), lang=language)
    for name, (predicate, language) in LINE_FIELDS.items():
        if getattr(row, name):
            yield node, predicate, Literal("\n".join(getattr(row, name)), lang=language)
    for name, predicate in SET_FIELDS.items():
        for text in getattr(row, name):
            yield node, predicate, Literal(text)
    if row.category:
        yield node, HUBV.category, Literal(row.category)
    if row.is_topic or row.severity != "major":
        yield node, HUBV.severity, Literal(row.severity)
    if row.position:
        yield node, HUBV.position, Literal(row.position)


def _property_triples(row: PropertyFacts) -> Iterator[Triple]:
    node = URIRef(row.iri)
    yield node, RDF.type, PROPERTY_TYPES[row.kind]
    yield from _labelled(node, RDFS.label, row.label_ja, row.label_en)
    if row.code != local_name(row.iri):
        yield node, SKOS.notation, Literal(row.code)
    ranges = (*row.ranges, row.datatype) if row.datatype else row.ranges
    relations = ((RDFS.domain, row.domains), (RDFS.range, ranges), (RDFS.subPropertyOf, row.parents))
    for predicate, iris in relations:
        for iri in iris:
            yield node, predicate, URIRef(iri)
    if row.inverse_of:
        yield node, OWL.inverseOf, URIRef(row.inverse_of)
    for name, type_iri in CHARACTERISTICS.items():
        if getattr(row, name):
            yield node, RDF.type, type_iri


def _labelled(node: URIRef, predicate: URIRef, ja: str, en: str) -> Iterator[Triple]:
    for text, language in ((ja, "ja"), (en, "en")):
        if text:
            yield node, predicate, Literal(text, lang=language)
