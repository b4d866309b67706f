"""What follows from an ontology, and what in it contradicts itself or lacks what it demands.

Disjointness and values of the wrong kind are contradictions in OWL too. Cardinalities, and domains and ranges of
individuals whose classes are stated, are judged as a curator means them: what is not stated is not there, and
different names are different things.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from rdflib import RDF, BNode, Graph, Literal, URIRef
from rdflib.collection import Collection
from rdflib.namespace import OWL, RDFS, XSD
from rdflib.term import Node

from knowledge.ontology.class_properties import ClassProperty, properties_of
from knowledge.ontology.reasoner import ASSERTED, Closure, Step, Triple
from knowledge.ontology.vocabulary import compact

_LEAST = {OWL.minCardinality, OWL.minQualifiedCardinality, OWL.cardinality, OWL.qualifiedCardinality}
_MOST = {OWL.maxCardinality, OWL.maxQualifiedCardinality, OWL.cardinality, OWL.qualifiedCardinality}
FACTS_SHOWN = 500
STEPS_SHOWN = 200
_SCHEMA = {RDFS.domain, RDFS.range, RDFS.subPropertyOf, OWL.inverseOf, OWL.equivalentProperty}


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """``kind`` is disjoint_classes, unsatisfiable_class, min_cardinality, max_cardinality, functional, domain, range.

    ``about`` are the terms it is about, ``facts`` what it rests on; ``numbers`` are (found, demanded) of a cardinality.
    """

    kind: str
    about: tuple[Node, ...]
    facts: tuple[Triple, ...]
    numbers: tuple[int, int] | None = None


def find_violations(graph: Graph, closure: Closure) -> list[Violation]:
    """Check a graph and what follows from it; in a stable order."""
    found = [
        *_disjoint(graph, closure),
        *_cardinalities(graph, closure),
        *_functional(closure),
        *_misplaced(graph, closure),
    ]
    return sorted(found, key=lambda each: (each.kind, tuple(map(str, each.about))))


def _sorted(terms: Iterable[Node]) -> list[Node]:
    return sorted(terms, key=str)


def disjoint_pairs(graph: Graph) -> Iterator[tuple[Node, Node, Triple]]:
    """Each pair of classes that are said to share nothing, with the statement that says so."""
    for first, _predicate, second in graph.triples((None, OWL.disjointWith, None)):
        yield first, second, (first, OWL.disjointWith, second)
    for group in graph.subjects(RDF.type, OWL.AllDisjointClasses):
        for head in graph.objects(group, OWL.members):
            members = sorted(Collection(graph, head), key=str)
            for index, first in enumerate(members):
                for second in members[index + 1 :]:
                    yield first, second, (first, OWL.disjointWith, second)


def _disjoint(graph: Graph, closure: Closure) -> Iterator[Violation]:
    for first, second, statement in disjoint_pairs(graph):
        for individual in _sorted(set(closure.subjects(RDF.type, first)) & set(closure.subjects(RDF.type, second))):
            facts = (statement, (individual, RDF.type, first), (individual, RDF.type, second))
            yield Violation(kind="disjoint_classes", about=(individual, first, second), facts=facts)
        below_first = {first, *closure.subjects(RDFS.subClassOf, first)}
        below_second = {second, *closure.subjects(RDFS.subClassOf, second)}
        for kind in _sorted(below_first & below_second):
            links = [(kind, RDFS.subClassOf, each) for each in (first, second) if each != kind]
            yield Violation(kind="unsatisfiable_class", about=(kind, first, second), facts=(statement, *links))


def _cardinalities(graph: Graph, closure: Closure) -> Iterator[Violation]:
    for restriction, prop in graph.subject_objects(OWL.onProperty):
        filler = graph.value(restriction, OWL.onClass)
        for predicate, number in graph.predicate_objects(restriction):
            if predicate not in _LEAST | _MOST or not isinstance(number, Literal) or not str(number).isdigit():
                continue
            for individual in _sorted(closure.subjects(RDF.type, restriction)):
                values = {value for value in closure.objects(individual, prop) if _fits(value, filler, closure)}
                yield from _counted(individual, prop, restriction, predicate, len(values), int(str(number)))


def _counted(
    individual: Node, prop: Node, restriction: Node, predicate: Node, found: int, demanded: int
) -> Iterator[Violation]:
    facts = ((individual, RDF.type, restriction),)
    if predicate in _LEAST and found < demanded:
        yield Violation(kind="min_cardinality", about=(individual, prop), facts=facts, numbers=(found, demanded))
    if predicate in _MOST and found > demanded:
        yield Violation(kind="max_cardinality", about=(individual, prop), facts=facts, numbers=(found, demanded))


def _fits(value: Node, filler: Node | None, closure: Closure) -> bool:
    return filler is None or filler == OWL.Thing or filler in closure.objects(value, RDF.type)


def _functional(closure: Closure) -> Iterator[Violation]:
    for prop in _sorted(closure.subjects(RDF.type, OWL.FunctionalProperty)):
        values: dict[Node, set[Node]] = {}
        for subject, value in closure.pairs(prop):
            values.setdefault(subject, set()).add(value)
        for subject in _sorted(values):
            several = values[subject]
            if len(several) > 1:
                facts = tuple((subject, prop, value) for value in _sorted(several))
                yield Violation(kind="functional", about=(subject, prop), facts=facts, numbers=(len(several), 1))


def _misplaced(graph: Graph, closure: Closure) -> Iterator[Violation]:
    """Statements whose subject or value is of another kind than the property demands, though its kind is stated."""
    for relation, position, kind in ((RDFS.domain, 0, "domain"), (RDFS.range, 1, "range")):
        for prop, demanded in graph.subject_objects(relation):
            for pair in sorted(graph.subject_objects(prop), key=lambda each: (str(each[0]), str(each[1]))):
                if not _is_of(pair[position], demanded, graph, closure):
                    facts = ((prop, relation, demanded), (pair[0], prop, pair[1]))
                    yield Violation(kind=kind, about=(pair[position], prop, demanded), facts=facts)


def _is_of(term: Node, demanded: Node, graph: Graph, closure: Closure) -> bool:
    if isinstance(term, Literal):
        return _is_value_of(term, demanded)
    if isinstance(demanded, URIRef) and demanded.startswith(str(XSD)):
        return False
    stated = {kind for kind in graph.objects(term, RDF.type) if isinstance(kind, URIRef) and kind not in _NO_KINDS}
    if not stated or isinstance(demanded, BNode) or demanded in (OWL.Thing, RDFS.Resource):
        return True
    return any(kind == demanded or demanded in closure.objects(kind, RDFS.subClassOf) for kind in stated)


_NO_KINDS = {OWL.NamedIndividual, OWL.Thing, RDFS.Resource}


def _is_value_of(value: Literal, demanded: Node) -> bool:
    if demanded in (RDFS.Literal, RDFS.Resource):
        return True
    datatype = value.datatype or (RDF.langString if value.language else XSD.string)
    if datatype == demanded:
        return not value.ill_typed
    return bool(
        isinstance(demanded, URIRef)
        and demanded.startswith(str(XSD))
        and value.datatype is not None
        and value.value is not None
        and Literal(str(value), datatype=demanded).ill_typed is False
    )


class InferenceType(StrEnum):
    SUBCLASS = "subclass"
    PROPERTY = "property"
    CONSISTENCY = "consistency"


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredFact:
    """A fact with its proof. ``depth`` counts the inferences in a row that lead to it; ``chain`` reads one a line."""

    triple: Triple
    rule: str
    depth: int
    chain: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundViolation:
    violation: Violation
    chain: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """``total`` counts all facts of the asked kind, ``deeper`` those left out because their proof is longer."""

    facts: tuple[InferredFact, ...]
    violations: tuple[FoundViolation, ...]
    total: int
    deeper: int
    asserted: int

    @property
    def is_consistent(self) -> bool:
        return not self.violations


def reason(
    graph: Graph,
    inference_type: InferenceType,
    *,
    target: URIRef | None = None,
    depth: int = 3,
    prefixes: dict[str, str],
) -> Reasoning:
    """Infer from a graph; with a target only what is about that class, its instances, or properties that name it.

    Facts come with the shortest proofs first, at most 500; for consistency there are none but violations. Of properties
    with a target, those that the class has come first: see :func:`knowledge.ontology.class_properties.properties_of`.
    """
    closure = Closure(graph)
    proofs = _Proofs(closure, prefixes)
    about = _neighbourhood(target, closure) if target else None
    violations = [each for each in find_violations(graph, closure) if about is None or _is_about(each, about)]
    found: list[tuple[int, Triple]] = []
    if inference_type is not InferenceType.CONSISTENCY:
        wanted = _is_hierarchy if inference_type is InferenceType.SUBCLASS else _is_relation
        found = [
            (steps, fact)
            for fact, steps in closure.inferred_with_depth()
            if wanted(fact) and (about is None or about & set(fact))
        ]
    near = sorted((pair for pair in found if pair[0] <= depth), key=lambda pair: (pair[0], tuple(map(str, pair[1]))))
    facts = [proofs.fact(fact, steps) for steps, fact in near[:FACTS_SHOWN]]
    if target is not None and inference_type is InferenceType.PROPERTY:
        had = [proofs.had(each) for each in properties_of(target, graph, closure) if each.triple not in closure]
        found += [(each.depth, each.triple) for each in had]
        own = [each for each in had if each.depth <= depth]
        near += [(each.depth, each.triple) for each in own]
        facts = sorted(own, key=lambda fact: (fact.depth, tuple(map(str, fact.triple)))) + facts
    return Reasoning(
        facts=tuple(facts[:FACTS_SHOWN]),
        violations=tuple(FoundViolation(violation=each, chain=proofs.chain(each.facts)) for each in violations),
        total=len(found),
        deeper=len(found) - len(near),
        asserted=closure.asserted_count,
    )


def _is_named(triple: Triple) -> bool:
    return not any(isinstance(term, BNode) for term in triple)


def _is_hierarchy(triple: Triple) -> bool:
    return triple[1] in (RDFS.subClassOf, RDF.type) and _is_named(triple)


def _is_relation(triple: Triple) -> bool:
    return _is_named(triple) and (triple[1] in _SCHEMA or triple[1] not in (RDFS.subClassOf, RDF.type))


def _neighbourhood(target: URIRef, closure: Closure) -> set[Node]:
    """The class, its instances, and the properties whose domain or range it is."""
    properties = (*closure.subjects(RDFS.domain, target), *closure.subjects(RDFS.range, target))
    return {target, *closure.subjects(RDF.type, target), *properties}


def _is_about(violation: Violation, about: set[Node]) -> bool:
    return bool(about & {*violation.about, *(term for fact in violation.facts for term in fact)})


class _Proofs:
    """Writes facts and their proofs with prefixed names."""

    def __init__(self, closure: Closure, prefixes: dict[str, str]) -> None:
        self._closure = closure
        self._prefixes = prefixes

    def fact(self, triple: Triple, depth: int) -> InferredFact:
        steps = self._closure.proof(triple)
        return InferredFact(triple=triple, rule=steps[-1].rule, depth=depth, chain=self._lines(steps))

    def had(self, one: ClassProperty) -> InferredFact:
        """That a class has a property, with the proofs of what says so."""
        last = Step(fact=one.triple, rule=one.rule, premises=one.premises)
        depth = 1 + max(self._depths.get(each, 0) for each in one.premises)
        chain = (*self.chain(one.premises), self._line(last))
        return InferredFact(triple=one.triple, rule=one.rule, depth=depth, chain=chain[-STEPS_SHOWN:])

    @cached_property
    def _depths(self) -> dict[Triple, int]:
        return dict(self._closure.inferred_with_depth())

    def chain(self, triples: Iterable[Triple]) -> tuple[str, ...]:
        """The proofs of several facts after each other, nothing twice."""
        steps: dict[Triple, Step] = {}
        for triple in triples:
            known = triple in self._closure
            proof = self._closure.proof(triple) if known else (Step(fact=triple, rule=ASSERTED),)
            steps |= {step.fact: step for step in proof if step.fact not in steps}
        return self._lines(steps.values())

    def _lines(self, steps: Iterable[Step]) -> tuple[str, ...]:
        return tuple(self._line(step) for step in steps)[:STEPS_SHOWN]

    def _line(self, step: Step) -> str:
        because = "; ".join(self._written(each) for each in step.premises)
        return f"{self._written(step.fact)} [{step.rule}]" + (f" ← {because}" if because else "")

    def _written(self, triple: Triple) -> str:
        return " ".join(self._term(term) for term in triple)

    def _term(self, term: Node) -> str:
        if isinstance(term, Literal):
            return term.n3()
        return compact(str(term), self._prefixes) if isinstance(term, URIRef) else f"_:{term}"
