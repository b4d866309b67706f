"""How long the reasoner takes on 300 classes and 2,000 individuals: ``python -m benchmarks.reasoning``.

``--owlrl`` gives the same graph to owlrl, too, which takes some minutes and keeps no proofs.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

from rdflib import Graph, Namespace
from rdflib.namespace import OWL, RDF, RDFS

from knowledge.ontology.reasoner import Closure

EXAMPLE = Namespace("urn:example#")


def synthetic_ontology(classes: int, properties: int, individuals: int, *, seed: int = 1) -> Graph:
    """Make a tree of classes three wide with some second parents, and individuals with two statements each."""
    draw = random.Random(seed)
    graph = Graph()
    kinds = [EXAMPLE[f"C{number}"] for number in range(classes)]
    relations = [EXAMPLE[f"p{number}"] for number in range(properties)]
    things = [EXAMPLE[f"i{number}"] for number in range(individuals)]
    for number, kind in enumerate(kinds[1:], start=1):
        graph.add((kind, RDFS.subClassOf, kinds[(number - 1) // 3]))
        if draw.random() < 0.2:
            graph.add((kind, RDFS.subClassOf, kinds[draw.randrange(number)]))
    for number, relation in enumerate(relations):
        graph.add((relation, RDFS.domain, draw.choice(kinds)))
        graph.add((relation, RDFS.range, draw.choice(kinds)))
        if number % 4 == 1:
            graph.add((relation, RDFS.subPropertyOf, relations[number - 1]))
        if number % 8 == 2:
            graph.add((relation, OWL.inverseOf, relations[number - 1]))
        if number % 10 == 3:
            graph.add((relation, RDF.type, OWL.TransitiveProperty))
    for thing in things:
        graph.add((thing, RDF.type, draw.choice(kinds)))
        for _statement in range(2):
            graph.add((thing, draw.choice(relations), draw.choice(things)))
    return graph


def main() -> None:
    """Print statements, facts and seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", type=int, default=300)
    parser.add_argument("--properties", type=int, default=80)
    parser.add_argument("--individuals", type=int, default=2000)
    parser.add_argument("--owlrl", action="store_true", help="measure owlrl beside it")
    asked = parser.parse_args()
    graph = synthetic_ontology(asked.classes, asked.properties, asked.individuals)
    print(f"{len(graph)} statements")
    _measure("the hub", lambda: sum(1 for _fact in Closure(graph).facts()))
    if asked.owlrl:
        _measure("owlrl", lambda: _facts_of_owlrl(graph))


def _measure(name: str, count_facts: Callable[[], int]) -> None:
    started, used = time.perf_counter(), time.process_time()
    facts = count_facts()
    took, used = time.perf_counter() - started, time.process_time() - used
    print(f"{name}: {facts} facts, {took:.2f} s ({used:.2f} s of the processor)")


def _facts_of_owlrl(graph: Graph) -> int:
    """Expand the graph in place; owlrl also adds facts about its vocabulary and itself (``x owl:sameAs x``)."""
    import owlrl

    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    return len(graph)


if __name__ == "__main__":
    main()
