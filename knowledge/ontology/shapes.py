"""SHACL shapes that came with an ontology, checked with pySHACL: nothing is fetched and no script or query is run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rdflib import Graph, Literal, Namespace
from rdflib.namespace import RDF
from rdflib.term import Node

from hub.core.patterns import PatternRefused, check_pattern

SH = Namespace("http://www.w3.org/ns/shacl#")
RESULTS_KEPT = 200
# A shape's own SPARQL or JavaScript could run for ever or ask another server.
_NOT_RUN = frozenset(
    SH[name]
    for name in (
        *("sparql", "select", "ask", "construct", "js", "rule", "target", "validator", "nodeValidator"),
        *("propertyValidator", "jsLibrary", "values", "expression"),
    )
)


class ShapesError(Exception):
    """Shapes can't be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeResult:
    focus: str
    path: str
    message: str
    severity: str
    shape: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapesReport:
    """``results`` are at most 200, ``total`` counts all. ``not_run`` names constructs of shapes that were left out."""

    conforms: bool
    total: int
    results: tuple[ShapeResult, ...]
    not_run: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def has_shapes(graph: Graph) -> bool:
    """Return whether a graph has SHACL shapes."""
    return any((None, RDF.type, kind) in graph for kind in (SH.NodeShape, SH.PropertyShape))


def validate_file(path: Path, *, limits: object, folder: Path, filename: str) -> str:
    """The task of a guarded child process: a :class:`ShapesReport` as JSON for a file of N-Triples, or its ``error``.

    pySHACL matches patterns and walks paths without any limit of its own. ``limits`` and the like are given to every
    task; this one needs none.
    """
    graph = Graph(store="SimpleMemory", bind_namespaces="none").parse(path, format="nt")
    try:
        return json.dumps(validate(graph).as_dict())
    except ShapesError as error:
        return json.dumps({"error": str(error)})


def validate(graph: Graph) -> ShapesReport:
    """Check a graph against its own shapes. Slow: seconds for thousands of individuals, for ever for some patterns.

    :raises ShapesError: a shape is not well-formed, asks for what pySHACL can't do, or has a pattern that may take
        forever.
    """
    import pyshacl
    from pyshacl.errors import ReportableRuntimeError, RuleLoadError, ShapeLoadError, ValidationFailure

    _check_patterns(graph)
    shapes = Graph()
    left_out = set()
    for triple in graph:
        if triple[1] in _NOT_RUN:
            left_out.add(str(triple[1]).removeprefix(str(SH)))
        else:
            shapes.add(triple)
    try:
        conforms, report, _text = pyshacl.validate(
            shapes, inference="none", do_owl_imports=False, advanced=False, js=False, meta_shacl=False
        )
    except (ShapeLoadError, RuleLoadError, ValidationFailure, ReportableRuntimeError) as error:
        raise ShapesError(str(error)[:500]) from error
    if not isinstance(report, Graph):
        raise TypeError(f"pySHACL gave {type(report).__name__} in place of a report")
    results = [_result(report, node) for node in report.objects(None, SH.result)]
    results.sort(key=lambda each: (each.focus, each.path, each.shape, each.message))
    return ShapesReport(
        conforms=bool(conforms),
        total=len(results),
        results=tuple(results[:RESULTS_KEPT]),
        not_run=tuple(sorted(left_out)),
    )


def patterns_of(graph: Graph) -> tuple[str, ...]:
    """Return the regular expressions of a graph's shapes, sorted."""
    return tuple(sorted({str(pattern) for pattern in graph.objects(None, SH.pattern)}))


def _check_patterns(graph: Graph) -> None:
    for shape, _, pattern in sorted(graph.triples((None, SH.pattern, None))):
        try:
            check_pattern(str(pattern), where=f"sh:pattern of {shape}")
        except PatternRefused as refused:
            raise ShapesError(str(refused)[:500]) from refused


def _result(report: Graph, node: Node) -> ShapeResult:
    def value_of(predicate: Node) -> str:
        values = sorted(report.objects(node, predicate), key=lambda term: getattr(term, "language", "") != "ja")
        found = next(iter(values), None)
        return "" if found is None else str(found) if not isinstance(found, Literal) else str(found.value)

    return ShapeResult(
        focus=value_of(SH.focusNode),
        path=value_of(SH.resultPath),
        message=value_of(SH.resultMessage)[:500],
        severity=value_of(SH.resultSeverity).removeprefix(str(SH)).lower(),
        shape=value_of(SH.sourceShape),
    )
