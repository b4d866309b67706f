"""A forward chainer: what follows from a graph, and from what.

Semi-naive: every new fact is joined once with those that are there. The rules are those of OWL 2 RL (names as in
https://www.w3.org/TR/owl2-profiles/#Reasoning_in_OWL_2_RL_and_RDF_Graphs_using_Rules) that ontologies of documents
need: hierarchies of classes and properties, domain, range, inverse, transitive and symmetric properties, equivalence.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rdflib import Graph, Literal
from rdflib.namespace import OWL, RDF, RDFS
from rdflib.term import Node

Triple = tuple[Node, Node, Node]
Numbered = tuple[int, int, int]
ASSERTED = "asserted"

_TERMS: tuple[Node, ...] = (
    RDF.type,
    RDFS.subClassOf,
    RDFS.subPropertyOf,
    RDFS.domain,
    RDFS.range,
    OWL.inverseOf,
    OWL.TransitiveProperty,
    OWL.SymmetricProperty,
    OWL.equivalentClass,
    OWL.equivalentProperty,
)
TYPE, SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE, INVERSE, TRANSITIVE, SYMMETRIC, EQ_CLASS, EQ_PROPERTY = range(len(_TERMS))
_DESCRIBING = frozenset({SUB_PROPERTY, DOMAIN, RANGE, INVERSE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Why a fact holds: the rule, and the facts that it was applied to (none when it is asserted)."""

    fact: Triple
    rule: str
    premises: tuple[Triple, ...] = ()


class Closure:
    """All facts of a graph and what follows from them, each with the first proof that was found.

    Terms are numbers inside: comparing those is several times faster than comparing IRIs.
    """

    def __init__(self, graph: Graph) -> None:
        self._numbers: dict[Node, int] = {term: number for number, term in enumerate(_TERMS)}
        self._terms: list[Node] = list(_TERMS)
        self._why: dict[Numbered, tuple[str, tuple[Numbered, ...]]] = {}
        self._by_subject: defaultdict[int, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._by_object: defaultdict[int, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._waiting: deque[Numbered] = deque()
        self._literals: set[int] = set()
        self._described: set[int] = set()  # properties of which something is said, and some terms more
        asserted = sorted((self._number(s), self._number(p), self._number(o)) for s, p, o in graph)
        self.asserted_count = len(asserted)
        # What is said of classes and properties first: what is said of individuals then needs one look each.
        for is_schema in (True, False):
            for fact in asserted:
                if _is_schema(fact) is is_schema:
                    self._add(fact, ASSERTED, ())
            while self._waiting:
                self._apply(self._waiting.popleft())

    def __contains__(self, fact: Triple) -> bool:
        numbers = tuple(self._numbers.get(term, -1) for term in fact)
        return numbers in self._why

    def facts(self) -> Iterator[Triple]:
        """Every fact, asserted ones first, in the order in which they were found."""
        return (self._named(fact) for fact in self._why)

    def inferred_with_depth(self) -> Iterator[tuple[Triple, int]]:
        """The inferred facts, each with the number of inferences in a row that lead to it."""
        depths: dict[Numbered, int] = {}
        for fact, (rule, premises) in self._why.items():  # premises are before what follows from them
            depths[fact] = 0 if rule == ASSERTED else 1 + max(depths[each] for each in premises)
            if rule != ASSERTED:
                yield self._named(fact), depths[fact]

    def objects(self, subject: Node, predicate: Node) -> list[Node]:
        """The objects of facts with this subject and predicate."""
        found = self._by_subject[self._numbers.get(predicate, -1)].get(self._numbers.get(subject, -1), ())
        return [self._terms[number] for number in found]

    def subjects(self, predicate: Node, obj: Node) -> list[Node]:
        """The subjects of facts with this predicate and object."""
        found = self._by_object[self._numbers.get(predicate, -1)].get(self._numbers.get(obj, -1), ())
        return [self._terms[number] for number in found]

    def pairs(self, predicate: Node) -> list[tuple[Node, Node]]:
        """The subjects and objects of facts with this predicate."""
        found = self._pairs(self._numbers.get(predicate, -1))
        return [(self._terms[subject], self._terms[obj]) for subject, obj in found]

    def _pairs(self, predicate: int) -> list[tuple[int, int]]:
        if predicate not in self._by_subject:
            return []
        return [(subject, obj) for subject, objects in self._by_subject[predicate].items() for obj in objects]

    def proof(self, fact: Triple) -> tuple[Step, ...]:
        """The steps that lead to a fact, premises before what follows from them, the fact itself last.

        :raises KeyError: it does not hold.
        """
        goal = (self._numbers[fact[0]], self._numbers[fact[1]], self._numbers[fact[2]])
        ordered: dict[Numbered, None] = {}
        waiting = [(goal, False)]
        while waiting:
            current, is_ready = waiting.pop()
            if current in ordered:
                continue
            premises = self._why[current][1]
            if is_ready or not premises:
                ordered[current] = None
            else:
                waiting.append((current, True))
                waiting.extend((premise, False) for premise in reversed(premises))
        return tuple(self._step(each) for each in ordered)

    def _step(self, fact: Numbered) -> Step:
        rule, premises = self._why[fact]
        return Step(fact=self._named(fact), rule=rule, premises=tuple(map(self._named, premises)))

    def _named(self, fact: Numbered) -> Triple:
        return self._terms[fact[0]], self._terms[fact[1]], self._terms[fact[2]]

    def _number(self, term: Node) -> int:
        number = self._numbers.get(term)
        if number is None:
            number = self._numbers[term] = len(self._terms)
            self._terms.append(term)
            if isinstance(term, Literal):
                self._literals.add(number)
        return number

    def _add(self, fact: Numbered, rule: str, premises: tuple[Numbered, ...]) -> None:
        """Note a fact that is new. One by cax-sco leads nowhere: all classes above are found from the class below."""
        subject, predicate, obj = fact
        if fact in self._why:
            if rule == ASSERTED:
                self._why[fact] = ASSERTED, ()
            return
        if rule != ASSERTED and self._says_nothing(fact):
            return
        self._why[fact] = rule, premises
        self._by_subject[predicate][subject].append(obj)
        self._by_object[predicate][obj].append(subject)
        if predicate in _DESCRIBING or obj in (TRANSITIVE, SYMMETRIC):
            self._described |= {subject, obj}
        if rule != "cax-sco" or obj in (TRANSITIVE, SYMMETRIC) or TYPE in self._described:
            self._waiting.append(fact)

    def _says_nothing(self, fact: Numbered) -> bool:
        """A literal is no subject, and that everything is below itself needs no saying."""
        return fact[0] in self._literals or (fact[1] in (SUB_CLASS, SUB_PROPERTY) and fact[0] == fact[2])

    def _apply(self, fact: Numbered) -> None:
        apply = _SCHEMA_RULES.get(fact[1])
        if apply:
            apply(self, fact)
        self._apply_property(fact)

    def _apply_property(self, fact: Numbered) -> None:
        """Join a fact with what is said of its predicate."""
        subject, predicate, obj = fact
        if predicate not in self._described:
            return
        for parent in self._said(predicate, SUB_PROPERTY):
            self._add((subject, parent, obj), "prp-spo1", ((predicate, SUB_PROPERTY, parent), fact))
        for domain in self._said(predicate, DOMAIN):
            self._add((subject, TYPE, domain), "prp-dom", ((predicate, DOMAIN, domain), fact))
        for range_ in self._said(predicate, RANGE):
            self._add((obj, TYPE, range_), "prp-rng", ((predicate, RANGE, range_), fact))
        for inverse in self._said(predicate, INVERSE):
            self._add((obj, inverse, subject), "prp-inv1", ((predicate, INVERSE, inverse), fact))
        for inverse in self._by_object[INVERSE].get(predicate, ()):
            self._add((obj, inverse, subject), "prp-inv2", ((inverse, INVERSE, predicate), fact))
        kinds = self._by_subject[TYPE].get(predicate)
        if kinds:
            self._apply_kinds(fact, kinds)

    def _apply_kinds(self, fact: Numbered, kinds: list[int]) -> None:
        subject, predicate, obj = fact
        if SYMMETRIC in kinds:
            self._add((obj, predicate, subject), "prp-symp", ((predicate, TYPE, SYMMETRIC), fact))
        if TRANSITIVE in kinds:
            self._chain(fact, "prp-trp", ((predicate, TYPE, TRANSITIVE),))

    def _chain(self, fact: Numbered, rule: str, because: tuple[Numbered, ...] = ()) -> None:
        """Join a fact with those of the same predicate that go on where it ends or end where it starts."""
        subject, predicate, obj = fact
        for further in tuple(self._said(obj, predicate)):
            self._add((subject, predicate, further), rule, (*because, fact, (obj, predicate, further)))
        for before in tuple(self._by_object[predicate].get(subject, ())):
            self._add((before, predicate, obj), rule, (*because, (before, predicate, subject), fact))

    def _said(self, subject: int, predicate: int) -> Iterable[int]:
        return tuple(self._by_subject[predicate].get(subject, ()))

    def _redo(self, predicate: int) -> None:
        """Look again at the facts of a property of which something new was said."""
        for subject, obj in self._pairs(predicate):
            self._apply_property((subject, predicate, obj))


def _is_schema(fact: Numbered) -> bool:
    return fact[1] in range(SUB_CLASS, EQ_PROPERTY + 1) or fact[2] in (TRANSITIVE, SYMMETRIC)


def _on_type(closure: Closure, fact: Numbered) -> None:
    individual, _type, kind = fact
    for parent in closure._said(kind, SUB_CLASS):
        closure._add((individual, TYPE, parent), "cax-sco", ((kind, SUB_CLASS, parent), fact))
    if kind in (TRANSITIVE, SYMMETRIC):
        closure._redo(individual)


def _on_sub_class(closure: Closure, fact: Numbered) -> None:
    child, _sub_class, parent = fact
    closure._chain(fact, "scm-sco")
    for individual in tuple(closure._by_object[TYPE].get(child, ())):
        closure._add((individual, TYPE, parent), "cax-sco", (fact, (individual, TYPE, child)))
    for relation, rule in ((DOMAIN, "scm-dom1"), (RANGE, "scm-rng1")):
        for prop in tuple(closure._by_object[relation].get(child, ())):
            closure._add((prop, relation, parent), rule, ((prop, relation, child), fact))


def _on_sub_property(closure: Closure, fact: Numbered) -> None:
    child, _sub_property, parent = fact
    closure._chain(fact, "scm-spo")
    for relation, rule in ((DOMAIN, "scm-dom2"), (RANGE, "scm-rng2")):
        for kind in closure._said(parent, relation):
            closure._add((child, relation, kind), rule, ((parent, relation, kind), fact))
    closure._redo(child)


def _on_domain_or_range(closure: Closure, fact: Numbered) -> None:
    prop, relation, kind = fact
    name = "dom" if relation == DOMAIN else "rng"
    for parent in closure._said(kind, SUB_CLASS):
        closure._add((prop, relation, parent), f"scm-{name}1", (fact, (kind, SUB_CLASS, parent)))
    for child in tuple(closure._by_object[SUB_PROPERTY].get(prop, ())):
        closure._add((child, relation, kind), f"scm-{name}2", (fact, (child, SUB_PROPERTY, prop)))
    closure._redo(prop)


def _on_inverse(closure: Closure, fact: Numbered) -> None:
    closure._redo(fact[0])
    closure._redo(fact[2])


def _on_equivalence(closure: Closure, fact: Numbered) -> None:
    relation, rule = (SUB_CLASS, "scm-eqc1") if fact[1] == EQ_CLASS else (SUB_PROPERTY, "scm-eqp1")
    closure._add((fact[0], relation, fact[2]), rule, (fact,))
    closure._add((fact[2], relation, fact[0]), rule, (fact,))


_SCHEMA_RULES = {
    TYPE: _on_type,
    SUB_CLASS: _on_sub_class,
    SUB_PROPERTY: _on_sub_property,
    DOMAIN: _on_domain_or_range,
    RANGE: _on_domain_or_range,
    INVERSE: _on_inverse,
    EQ_CLASS: _on_equivalence,
    EQ_PROPERTY: _on_equivalence,
}
