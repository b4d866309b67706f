"""The reasoner against owlrl, what it explains, and what it finds inconsistent."""

from __future__ import annotations

from typing import Any

import owlrl
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Graph, Literal, Namespace, URIRef
from rdflib.namespace import OWL, RDF, RDFS, XSD

from knowledge.ontology.rdf_mapping import graph_of
from knowledge.ontology.reasoner import Closure
from knowledge.ontology.reasoning import InferenceType, find_violations, reason
from knowledge.ontology.shipped_files import shipped_ontologies

E = Namespace("urn:example#")
CLASSES = [E[f"C{number}"] for number in range(5)]
PROPERTIES = [E[f"p{number}"] for number in range(4)]
INDIVIDUALS = [E[f"i{number}"] for number in range(4)]
PREFIXES = {"ex": str(E), "rdfs": str(RDFS), "rdf": str(RDF), "owl": str(OWL)}
a_class, a_property, an_individual = (st.sampled_from(each) for each in (CLASSES, PROPERTIES, INDIVIDUALS))
a_fact = st.one_of(
    st.tuples(a_class, st.sampled_from([RDFS.subClassOf, OWL.equivalentClass]), a_class),
    st.tuples(a_property, st.sampled_from([RDFS.subPropertyOf, OWL.inverseOf, OWL.equivalentProperty]), a_property),
    st.tuples(a_property, st.sampled_from([RDFS.domain, RDFS.range]), a_class),
    st.tuples(a_property, st.just(RDF.type), st.sampled_from([OWL.TransitiveProperty, OWL.SymmetricProperty])),
    st.tuples(an_individual, st.just(RDF.type), a_class),
    st.tuples(an_individual, a_property, an_individual),
)
SHARED = {RDF.type, RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain, RDFS.range, *PROPERTIES}


def declared() -> Graph:
    graph = Graph()
    for kind, terms in ((OWL.Class, CLASSES), (OWL.ObjectProperty, PROPERTIES)):
        for term in terms:
            graph.add((term, RDF.type, kind))
    return graph


def shared(facts: Any) -> set[tuple[Any, ...]]:
    """Facts on the ontology's own terms by the predicates that both infer, but not that a thing is below itself."""
    own = {*CLASSES, *PROPERTIES, *INDIVIDUALS}
    hierarchies = {RDFS.subClassOf, RDFS.subPropertyOf}
    return {
        fact
        for fact in facts
        if fact[1] in SHARED
        and fact[0] in own
        and fact[2] in own
        and not (fact[1] in hierarchies and fact[0] == fact[2])
    }


@settings(max_examples=60)
@given(st.lists(a_fact, min_size=3, max_size=14))
def test_it_infers_what_owlrl_infers(facts):
    graph = declared()
    for fact in facts:
        graph.add(fact)
    closure = Closure(graph)
    oracle = Graph()
    oracle += graph

    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(oracle)

    assert shared(closure.facts()) == shared(oracle)


@settings(max_examples=40)
@given(st.lists(a_fact, min_size=3, max_size=14))
def test_every_proof_starts_from_what_is_asserted_and_rests_on_what_was_shown_before(facts):
    graph = declared()
    for fact in facts:
        graph.add(fact)
    closure = Closure(graph)
    for inferred, depth in closure.inferred_with_depth():
        seen: set[Any] = set()
        for step in closure.proof(inferred):
            assert set(step.premises) <= seen
            assert step.premises or step.fact in graph
            seen.add(step.fact)
        assert inferred in seen
        assert depth > 0


def graph(text: str) -> Graph:
    prefixes = "".join(f"@prefix {name}: <{base}> .\n" for name, base in (PREFIXES | {"xsd": str(XSD)}).items())
    return Graph().parse(data=prefixes + text, format="turtle")


def kinds(text: str) -> list[tuple[str, str]]:
    read = graph(text)
    return [(each.kind, str(each.about[0]).partition("#")[2]) for each in find_violations(read, Closure(read))]


def test_a_chain_explains_how_a_fact_came_about():
    text = "ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:C . ex:x a ex:A ."
    found = reason(graph(text), InferenceType.SUBCLASS, target=E.C, prefixes=PREFIXES)
    chains = {fact.triple: fact.chain for fact in found.facts}
    assert chains[E.A, RDFS.subClassOf, E.C] == (
        "ex:A rdfs:subClassOf ex:B [asserted]",
        "ex:B rdfs:subClassOf ex:C [asserted]",
        "ex:A rdfs:subClassOf ex:C [scm-sco] ← ex:A rdfs:subClassOf ex:B; ex:B rdfs:subClassOf ex:C",
    )
    assert (E.x, RDF.type, E.C) in chains


def test_depth_leaves_longer_proofs_out_and_says_so():
    text = "".join(f"ex:C{number} rdfs:subClassOf ex:C{number + 1} ." for number in range(6)) + "ex:x a ex:C0 ."
    near = reason(graph(text), InferenceType.SUBCLASS, depth=1, prefixes=PREFIXES)
    far = reason(graph(text), InferenceType.SUBCLASS, depth=20, prefixes=PREFIXES)
    assert near.deeper == near.total - len(near.facts) > 0
    assert (far.deeper, far.total) == (0, near.total)


def test_property_inference_covers_inverse_transitive_and_sub_property():
    text = """ex:above a owl:TransitiveProperty ; owl:inverseOf ex:below . ex:on rdfs:subPropertyOf ex:above .
    ex:a ex:on ex:b . ex:b ex:above ex:c ."""
    found = {fact.triple for fact in reason(graph(text), InferenceType.PROPERTY, prefixes=PREFIXES).facts}
    assert {(E.a, E.above, E.c), (E.c, E.below, E.a)} <= found


def test_disjoint_classes_contradict_a_common_instance_and_a_common_subclass():
    text = "ex:A owl:disjointWith ex:B . ex:x a ex:A, ex:B . ex:C rdfs:subClassOf ex:A, ex:B ."
    assert kinds(text) == [("disjoint_classes", "x"), ("unsatisfiable_class", "C")]
    several = "[] a owl:AllDisjointClasses ; owl:members (ex:A ex:B ex:D) . ex:x a ex:D, ex:A ."
    assert kinds(several) == [("disjoint_classes", "x")]


def test_cardinalities_count_what_is_stated():
    text = """ex:Doc rdfs:subClassOf [ a owl:Restriction ; owl:onProperty ex:has ; owl:minCardinality 2 ] ,
      [ a owl:Restriction ; owl:onProperty ex:by ; owl:maxCardinality 1 ] ,
      [ a owl:Restriction ; owl:onProperty ex:has ; owl:minQualifiedCardinality 1 ; owl:onClass ex:Security ] .
    ex:ok a ex:Doc ; ex:has ex:s1, ex:s2 ; ex:by ex:p1 . ex:s1 a ex:Security .
    ex:bad a ex:Doc ; ex:has ex:s2 ; ex:by ex:p1, ex:p2 ."""
    assert kinds(text) == [("max_cardinality", "bad"), ("min_cardinality", "bad"), ("min_cardinality", "bad")]


def test_a_functional_property_has_one_value():
    assert kinds("ex:id a owl:FunctionalProperty . ex:x ex:id 1, 2 . ex:y ex:id 1 .") == [("functional", "x")]


def test_a_subject_or_value_of_another_kind_is_named_and_a_subclass_is_not():
    text = """ex:refines rdfs:domain ex:Requirement ; rdfs:range ex:Requirement . ex:Fr rdfs:subClassOf ex:Requirement .
    ex:n rdfs:range xsd:integer . ex:f a ex:Fr ; ex:refines ex:g . ex:g a ex:Fr ; ex:n 3 .
    ex:s a ex:Section ; ex:refines ex:f . ex:f ex:n "三" ."""
    assert kinds(text) == [("domain", "s"), ("range", "")]


def test_the_shipped_ontologies_are_consistent_and_say_what_the_design_says():
    for _version, facts in shipped_ontologies():
        found = reason(graph_of(facts), InferenceType.CONSISTENCY, prefixes=PREFIXES)
        assert found.is_consistent, found.violations
    system = next(facts for _version, facts in shipped_ontologies() if facts.domain == "system_design")
    base = "urn:hub:ontology:system_design#"
    fact = (URIRef(base + "PerformanceRequirement"), RDFS.subClassOf, URIRef(base + "NonFunctionalRequirement"))
    assert fact in Closure(graph_of(system))


def test_a_literal_is_never_a_subject():
    text = graph("ex:p rdfs:range ex:C . ex:x ex:p 'あ' . ex:q owl:inverseOf ex:p .")
    assert not any(isinstance(fact[0], Literal) for fact in Closure(text).facts())


FAMILY = """
@prefix ex: <https://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Document a owl:Class . ex:Design a owl:Class ; rdfs:subClassOf ex:Document, [ a owl:Restriction ;
    owl:onProperty ex:approvedBy ; owl:someValuesFrom ex:Person ] .
ex:BasicDesign a owl:Class ; rdfs:subClassOf ex:Design . ex:Person a owl:Class .
ex:TestPlan a owl:Class ; rdfs:subClassOf ex:Document . ex:Section a owl:Class .
ex:hasSection a owl:ObjectProperty ; rdfs:domain ex:Document ; rdfs:range ex:Section .
ex:hasFirstSection a owl:ObjectProperty ; rdfs:subPropertyOf ex:hasSection .
ex:realises a owl:ObjectProperty ; rdfs:domain ex:Design .
ex:approvedBy a owl:ObjectProperty .
"""


def had_by(name: str) -> dict[str, tuple[str, str, int]]:
    graph = Graph().parse(data=FAMILY, format="turtle")
    base = "https://example.org/"
    got = reason(graph, InferenceType.PROPERTY, target=URIRef(base + name), prefixes={"ex": base})
    return {
        str(fact.triple[1]).removeprefix(base): (str(fact.triple[2]).rsplit("/", 1)[-1], fact.rule, fact.depth)
        for fact in got.facts
        if fact.rule.startswith("class-")
    }


def test_a_class_has_what_its_domain_a_restriction_and_the_classes_above_it_say():
    assert had_by("BasicDesign") == {
        "hasSection": ("Section", "class-domain", 2),
        "hasFirstSection": ("Section", "class-domain", 2),
        "realises": ("owl#Thing", "class-domain", 1),
        "approvedBy": ("Person", "class-restriction", 2),
    }
    assert set(had_by("TestPlan")) == {"hasSection", "hasFirstSection"}
    assert set(had_by("Document")) == {"hasSection", "hasFirstSection"}
    assert had_by("Person") == {}


def test_what_a_class_has_is_proved_down_to_what_was_stated():
    graph = Graph().parse(data=FAMILY, format="turtle")
    got = reason(
        graph,
        InferenceType.PROPERTY,
        target=URIRef("https://example.org/BasicDesign"),
        prefixes={"ex": "https://example.org/"},
    )
    (fact,) = [one for one in got.facts if str(one.triple[1]).endswith("hasSection")]
    assert fact.chain[-1].startswith("ex:BasicDesign ex:hasSection ex:Section [class-domain] ← ")
    assert any(line.startswith("ex:hasSection ") and line.endswith("ex:Document [asserted]") for line in fact.chain)
