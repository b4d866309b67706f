"""Which properties a class has, with what: by their domain, by a restriction, and by what the classes above it have.

No fact of OWL says that a class has a property; a curator who gives it a domain means that, and reads it of all classes
below, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdflib import BNode, Graph, Literal, URIRef
from rdflib.namespace import OWL, RDFS
from rdflib.term import Node

from knowledge.ontology.reasoner import Closure, Triple

BY_DOMAIN, BY_RESTRICTION = "class-domain", "class-restriction"
_FILLERS = (OWL.someValuesFrom, OWL.allValuesFrom, OWL.hasValue, OWL.onClass, OWL.onDataRange)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassProperty:
    """That a class has a property (``triple``: the class, the property, what it leads to), and what says so."""

    triple: Triple
    rule: str
    premises: tuple[Triple, ...]


def properties_of(target: URIRef, graph: Graph, closure: Closure) -> tuple[ClassProperty, ...]:
    """Return what a class has, each property with each of its values once, by the nearest class that says so."""
    above = [target, *(kind for kind in closure.objects(target, RDFS.subClassOf) if kind != target)]
    found: dict[Triple, ClassProperty] = {}
    for each in (*_by_domain(target, above, graph, closure), *_by_restriction(target, above, graph, closure)):
        known = found.get(each.triple)
        if known is None or len(each.premises) < len(known.premises):
            found[each.triple] = each
    return tuple(found.values())


def _by_domain(target: URIRef, above: list[Node], graph: Graph, closure: Closure) -> Iterator[ClassProperty]:
    """By stated domains only: that a property's domain is below a class does not mean that the whole class has it."""
    for kind in above:
        for stated in graph.subjects(RDFS.domain, kind):
            for prop in (stated, *closure.subjects(RDFS.subPropertyOf, stated)):
                domains = {*graph.objects(prop, RDFS.domain), *graph.objects(stated, RDFS.domain)}
                if isinstance(prop, URIRef) and domains <= set(above):
                    premises = [(stated, RDFS.domain, kind), *_link(prop, RDFS.subPropertyOf, stated)]
                    yield from _with_values(target, prop, kind, premises, graph, closure)


def _with_values(
    target: URIRef, prop: URIRef, kind: Node, premises: list[Triple], graph: Graph, closure: Closure
) -> Iterator[ClassProperty]:
    said = [*_link(target, RDFS.subClassOf, kind), *premises]
    ranges = [value for value in graph.objects(prop, RDFS.range) if isinstance(value, URIRef)]
    ranges = ranges or [value for value in closure.objects(prop, RDFS.range) if isinstance(value, URIRef)]
    for value in ranges:
        triple = (target, prop, value)
        yield ClassProperty(triple=triple, rule=BY_DOMAIN, premises=(*said, (prop, RDFS.range, value)))
    if not ranges:
        yield ClassProperty(triple=(target, prop, OWL.Thing), rule=BY_DOMAIN, premises=tuple(said))


def _by_restriction(target: URIRef, above: list[Node], graph: Graph, closure: Closure) -> Iterator[ClassProperty]:
    for kind in above:
        prop = graph.value(kind, OWL.onProperty)
        if not isinstance(kind, BNode) or not isinstance(prop, URIRef):
            continue
        fillers = [value for name in _FILLERS for value in graph.objects(kind, name)]
        named = [value for value in fillers if isinstance(value, URIRef | Literal)]
        ranges = [value for value in closure.objects(prop, RDFS.range) if isinstance(value, URIRef)]
        for value in named or ranges or [OWL.Thing]:
            premises = ((target, RDFS.subClassOf, kind), (kind, OWL.onProperty, prop))
            yield ClassProperty(triple=(target, prop, value), rule=BY_RESTRICTION, premises=premises)


def _link(lower: Node, relation: URIRef, upper: Node) -> list[Triple]:
    return [] if lower == upper else [(lower, relation, upper)]
