"""Answering what follows from an ontology: about hierarchies, about properties, and whether it is consistent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from rdflib import BNode, Graph, Literal, URIRef
from rdflib.namespace import OWL, RDF, RDFS
from rdflib.term import Node

from knowledge.ontology.consistency import Violation, find_violations
from knowledge.ontology.reasoner import ASSERTED, Closure, Step, Triple
from knowledge.ontology.vocabulary import compact

FACTS_SHOWN = 500
STEPS_SHOWN = 200
_SCHEMA = {RDFS.domain, RDFS.range, RDFS.subPropertyOf, OWL.inverseOf, OWL.equivalentProperty}


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

    Facts come with the shortest proofs first, at most 500; for consistency there are none but violations.
    """
    closure = Closure(graph)
    teller = _Teller(closure, prefixes)
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
    return Reasoning(
        facts=tuple(teller.fact(fact, steps) for steps, fact in near[:FACTS_SHOWN]),
        violations=tuple(FoundViolation(violation=each, chain=teller.chain(each.facts)) for each in violations),
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


class _Teller:
    """Writes facts and their proofs with prefixed names."""

    def __init__(self, closure: Closure, prefixes: dict[str, str]) -> None:
        self._closure = closure
        self._prefixes = prefixes

    def fact(self, triple: Triple, depth: int) -> InferredFact:
        steps = self._closure.proof(triple)
        return InferredFact(triple=triple, rule=steps[-1].rule, depth=depth, chain=self._lines(steps))

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
