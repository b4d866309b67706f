"""From the hub's classes and properties to RDF and back, without loss in either direction.

A file's graph is what the facts say, without what is suppressed, and with the remainder:
``graph == (modelled(facts) - suppressed) + remainder``. Nothing that the hub writes by itself has blank nodes, so the
differences are exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rdflib import Graph, Literal, URIRef
from rdflib.namespace import DC, DCTERMS, OWL, RDF, RDFS, SKOS, XSD
from rdflib.term import Node

from knowledge.ontology.facts import ClassFacts, ClassKind, OntologyFacts, PropertyFacts, PropertyKind
from knowledge.ontology.rdf_files import from_ntriples, to_ntriples
from knowledge.ontology.vocabulary import HUBV, STANDARD_PREFIXES, local_name, ontology_iri, prefixes_of

CLASS_TYPES = {ClassKind.OWL: OWL.Class, ClassKind.RDFS: RDFS.Class, ClassKind.CONCEPT: SKOS.Concept}
PROPERTY_TYPES = {
    PropertyKind.OBJECT: OWL.ObjectProperty,
    PropertyKind.DATATYPE: OWL.DatatypeProperty,
    PropertyKind.ANNOTATION: OWL.AnnotationProperty,
    PropertyKind.RDF: RDF.Property,
}
CHARACTERISTICS = {
    "is_transitive": OWL.TransitiveProperty,
    "is_symmetric": OWL.SymmetricProperty,
    "is_functional": OWL.FunctionalProperty,
}
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
TEXT_FIELDS = {
    "definition_ja": (SKOS.definition, "ja"),
    "definition_en": (SKOS.definition, "en"),
    "expected_location": (HUBV.expectedLocation, "ja"),
    "expected_location_en": (HUBV.expectedLocation, "en"),
    "example": (HUBV.examplePlain, "ja"),
    "example_polite": (HUBV.examplePolite, "ja"),
}
# Lists whose order means something are one text, a line for each entry: RDF has no other order without blank nodes.
LINE_FIELDS = {"elements_ja": (HUBV.elements, "ja"), "elements_en": (HUBV.elements, "en")}
SET_FIELDS = {"cues": HUBV.cue, "exclusions": HUBV.exclusion}
FLAG_FIELDS = {"is_topic": HUBV.isTopic, "required": HUBV.isRequired, "whole_document": HUBV.isAboutWholeDocument}
Triple = tuple[Node, Node, Node]
BUILT_IN = (str(OWL), str(RDF), str(RDFS), str(XSD), str(SKOS), "http://www.w3.org/ns/shacl#")
SEVERITIES = frozenset({"critical", "major", "minor", "info"})
MAX_NAME, MAX_CODE, MAX_IRI = 200, 80, 500
_LABELS = (RDFS.label, SKOS.prefLabel, DCTERMS.title, DC.title)


def language_of(text: str) -> str:
    """Tell by its letters in which of the two languages a word is written.

    >>> language_of("単体テスト"), language_of("unit test")
    ('ja', 'en')
    """
    return "ja" if _JAPANESE.search(text) else "en"


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


def facts_of(graph: Graph, *, domain: str, names: tuple[str, str] = ("", "")) -> OntologyFacts:
    """Read a graph; ``names`` (ja, en) are used where the file gives the ontology no title."""
    classes = _classes(graph)
    properties = _properties(graph, {row.iri for row in classes})
    name_ja, name_en = _title(graph, domain)
    prefixes = sorted(
        (prefix, str(base))
        for prefix, base in graph.namespaces()
        if prefix and prefix != "hub" and prefix not in STANDARD_PREFIXES
    )
    read = OntologyFacts(
        domain=domain,
        name_ja=name_ja or names[0] or name_en or domain,
        name_en=name_en or names[1] or name_ja or domain,
        document_types=_texts(graph, URIRef(ontology_iri(domain)), HUBV.documentType),
        classes=classes,
        properties=properties,
        prefixes=tuple(prefixes),
    )
    return with_rest_of(graph, read)


def with_rest_of(graph: Graph, facts: OntologyFacts) -> OntologyFacts:
    """Keep beside the facts what they do not say of the graph, and what they say too much."""
    own = modelled(facts)
    return replace(
        facts,
        remainder=to_ntriples(triple for triple in graph if triple not in own),
        suppressed=to_ntriples(triple for triple in own if triple not in graph),
    )


def _classes(graph: Graph) -> tuple[ClassFacts, ...]:
    kinds: dict[Node, ClassKind] = {}
    for kind in (ClassKind.CONCEPT, ClassKind.RDFS, ClassKind.OWL):  # the last one that is stated wins
        kinds |= {node: kind for node in graph.subjects(RDF.type, CLASS_TYPES[kind]) if _is_own(node)}
    for child, _predicate, parent in graph.triples((None, RDFS.subClassOf, None)):
        kinds |= {node: ClassKind.RDFS for node in (child, parent) if _is_own(node) and node not in kinds}
    codes: set[str] = set()
    return tuple(_class(graph, node, kinds, codes) for node in sorted(kinds, key=str))


def _class(graph: Graph, node: Node, kinds: dict[Node, ClassKind], codes: set[str]) -> ClassFacts:
    kind = kinds[node]
    ja, en = _labels(graph, node)
    predicate = SKOS.broader if kind is ClassKind.CONCEPT else RDFS.subClassOf
    parents = sorted(str(each) for each in graph.objects(node, predicate) if each in kinds and each != node)
    severity = _text(graph, node, HUBV.severity)
    lines: dict[str, Any] = {name: tuple(_in(graph, node, *where).splitlines()) for name, where in LINE_FIELDS.items()}
    texts: dict[str, Any] = {name: _in(graph, node, *where) for name, where in TEXT_FIELDS.items()}
    flags: dict[str, Any] = {name: Literal(True) in graph.objects(node, flag) for name, flag in FLAG_FIELDS.items()}
    lists: dict[str, Any] = {name: _texts(graph, node, each) for name, each in SET_FIELDS.items()}
    return ClassFacts(
        iri=str(node),
        code=_code(graph, node, codes),
        kind=kind,
        label_ja=(ja or en or local_name(str(node)))[:MAX_NAME],
        label_en=(en or ja or local_name(str(node)))[:MAX_NAME],
        synonyms=_synonyms(graph, node),
        parents=tuple(parents),
        position=_position(graph, node),
        severity=severity if severity in SEVERITIES else "major",
        category=_text(graph, node, HUBV.category)[:100],
        **flags,
        **texts,
        **lists,
        **lines,
    )


def _properties(graph: Graph, classes: set[str]) -> tuple[PropertyFacts, ...]:
    kinds: dict[Node, PropertyKind] = {}
    for kind in (PropertyKind.RDF, PropertyKind.ANNOTATION, PropertyKind.DATATYPE, PropertyKind.OBJECT):
        kinds |= {node: kind for node in graph.subjects(RDF.type, PROPERTY_TYPES[kind]) if _is_own(node)}
    codes: set[str] = set()
    return tuple(_property(graph, node, kinds, classes, codes) for node in sorted(kinds, key=str))


def _property(
    graph: Graph, node: Node, kinds: dict[Node, PropertyKind], classes: set[str], codes: set[str]
) -> PropertyFacts:
    ja, en = _labels(graph, node)
    ranges = sorted(str(iri) for iri in graph.objects(node, RDFS.range) if isinstance(iri, URIRef))
    inverses = sorted(str(iri) for iri in graph.objects(node, OWL.inverseOf) if iri in kinds)
    types = set(graph.objects(node, RDF.type))
    return PropertyFacts(
        iri=str(node),
        code=_code(graph, node, codes),
        kind=kinds[node],
        label_ja=(ja or en or local_name(str(node)))[:MAX_NAME],
        label_en=(en or ja or local_name(str(node)))[:MAX_NAME],
        domains=tuple(sorted(str(iri) for iri in graph.objects(node, RDFS.domain) if str(iri) in classes)),
        ranges=tuple(iri for iri in ranges if iri in classes),
        datatype=next((iri for iri in ranges if iri.startswith(str(XSD)) or iri == str(RDFS.Literal)), ""),
        parents=tuple(
            sorted(str(iri) for iri in graph.objects(node, RDFS.subPropertyOf) if iri in kinds and iri != node)
        ),
        inverse_of=inverses[0] if inverses else "",
        **{name: type_iri in types for name, type_iri in CHARACTERISTICS.items()},
    )


def _is_own(node: Node) -> bool:
    return isinstance(node, URIRef) and not str(node).startswith(BUILT_IN) and len(node) <= MAX_IRI


def _title(graph: Graph, domain: str) -> tuple[str, str]:
    own = URIRef(ontology_iri(domain))
    named = sorted((*graph.subjects(RDF.type, OWL.Ontology), *graph.subjects(RDF.type, SKOS.ConceptScheme)), key=str)
    for node in (own, *named):
        ja, en = _labels(graph, node)
        if ja or en:
            return ja[:MAX_NAME], en[:MAX_NAME]
    return "", ""


def _labels(graph: Graph, node: Node) -> tuple[str, str]:
    """The first label in Japanese and in English; one without a language counts by its letters."""
    found = {"ja": "", "en": ""}
    for predicate in _LABELS:
        for literal in _literals(graph, node, predicate):
            language = (literal.language or language_of(literal))[:2].lower()
            if language in found and not found[language]:
                found[language] = str(literal)
    return found["ja"], found["en"]


def _synonyms(graph: Graph, node: Node) -> tuple[str, ...]:
    texts = [str(literal) for literal in _literals(graph, node, SKOS.altLabel)]
    return tuple(dict.fromkeys(text for text in texts if len(text) <= MAX_NAME))


def _code(graph: Graph, node: Node, codes: set[str]) -> str:
    wanted = _text(graph, node, SKOS.notation) or local_name(str(node))
    code, number = wanted[:MAX_CODE], 1
    while code in codes:
        number += 1
        code = f"{wanted[: MAX_CODE - 6]}-{number}"
    codes.add(code)
    return code


def _position(graph: Graph, node: Node) -> int:
    text = _text(graph, node, HUBV.position)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


def _literals(graph: Graph, node: Node, predicate: URIRef) -> list[Literal]:
    found = (term for term in graph.objects(node, predicate) if isinstance(term, Literal) and "\0" not in term)
    return sorted(found, key=lambda literal: (literal.language or "", str(literal)))


def _text(graph: Graph, node: Node, predicate: URIRef) -> str:
    found = _literals(graph, node, predicate)
    return str(found[0]) if found else ""


def _texts(graph: Graph, node: Node, predicate: URIRef) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(literal) for literal in _literals(graph, node, predicate)))


def _in(graph: Graph, node: Node, predicate: URIRef, language: str) -> str:
    found = [literal for literal in _literals(graph, node, predicate) if (literal.language or "")[:2] == language]
    return str(found[0]) if found else ""
