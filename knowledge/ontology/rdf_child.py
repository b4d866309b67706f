"""Parsing an RDF file, as the task of a guarded child process: nothing is fetched, no entity is expanded.

It gives the statements as N-Triples, which the parent reads line by line, or what is wrong with the file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax import SAXParseException

from rdflib import Graph, URIRef
from rdflib.exceptions import ParserError
from rdflib.plugins.parsers.jsonld import to_rdf
from rdflib.plugins.parsers.notation3 import BadSyntax
from rdflib.term import Node

from knowledge.ontology.vocabulary import ontology_iri

MAX_ENTITY = 300
_MOST_EXPANDED = 20 * 1024 * 1024
_PARSERS = {"rdfxml": "xml", "turtle": "turtle"}
_BAD_IRI = re.compile(r'[\x00-\x20<>"{}|\\^`]')
_ENTITY_REFERENCE = re.compile(r"&(?!#|amp;|lt;|gt;|quot;|apos;)")


def read_rdf(
    path: Path,
    *,
    limits: object,
    folder: Path,
    filename: str,
    rdf_format: str,
    domain: str,
    max_triples: int,
) -> str:
    """The child's task: ``ntriples`` with ``prefixes``, or ``unreadable``, ``bad_iri`` or ``triples`` (too many).

    ``limits`` and ``folder`` are given to every task; this one needs neither.
    """
    base = f"http://hub.invalid/{domain}"  # a urn is no base that relative IRIs can be joined to
    graph = Graph(store="SimpleMemory", bind_namespaces="none")
    try:
        _parse(path.read_bytes(), graph, rdf_format, base)
    except (BadSyntax, ParserError, SAXParseException, expat.ExpatError, ValueError, TypeError, KeyError) as error:
        return json.dumps({"unreadable": " ".join(str(error).split())[:300]})
    except (RecursionError, AttributeError, IndexError, AssertionError) as error:  # rdflib's own ways to stumble
        return json.dumps({"unreadable": type(error).__name__})
    if len(graph) > max_triples:
        return json.dumps({"triples": len(graph)})
    graph = _rebased(graph, base, ontology_iri(domain))
    if (iri := _bad_iri(graph)) is not None:
        return json.dumps({"bad_iri": iri})
    prefixes = [(prefix, str(namespace)) for prefix, namespace in graph.namespaces()]
    return json.dumps({"ntriples": graph.serialize(format="nt"), "prefixes": prefixes})


def _parse(data: bytes, graph: Graph, rdf_format: str, base: str) -> None:
    if rdf_format == "jsonld":
        # Graph.parse would make a graph of a class that rdflib itself warns of; named graphs are refused here.
        to_rdf(_checked_json(data), graph, base)
        return
    if rdf_format == "rdfxml":
        _check_xml(data)
    graph.parse(data=data, format=_PARSERS[rdf_format], publicID=base)


def _check_xml(data: bytes) -> None:
    """Refuse entities from elsewhere, and any that could grow: only short texts (names of namespaces) are let in."""
    parser = expat.ParserCreate()
    size = 0

    def declared(
        name: str, _is_parameter: object, value: str | None, _base: object, system: object, *_: object
    ) -> None:
        if value is None or system or len(value) > MAX_ENTITY or _ENTITY_REFERENCE.search(value):
            raise ValueError(f"entity {name}: only short texts may be declared")

    def counted(text: str) -> None:
        nonlocal size
        size += len(text)
        if size > _MOST_EXPANDED:
            raise ValueError("its entities make it too large")

    parser.EntityDeclHandler = declared
    parser.CharacterDataHandler = counted
    parser.StartElementHandler = lambda name, attributes: counted(name + "".join(attributes.values()))
    parser.Parse(data, True)


def _checked_json(data: bytes) -> Any:  # noqa: ANN401 - JSON
    """Refuse a JSON-LD context that is elsewhere."""
    content = json.loads(data)
    waiting: list[Any] = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
            contexts = value.get("@context", {})
            listed = contexts if isinstance(contexts, list) else [contexts]
            if any(isinstance(each, str) or (isinstance(each, dict) and "@import" in each) for each in listed):
                raise ValueError("a @context must stand in the file itself; none is fetched")
    return content


def _rebased(graph: Graph, base: str, iri: str) -> Graph:
    def moved(term: Node) -> Node:
        return URIRef(iri + term[len(base) :]) if isinstance(term, URIRef) and term.startswith(base) else term

    result = Graph(store="SimpleMemory", bind_namespaces="none")
    for prefix, namespace in graph.namespaces():
        result.bind(prefix, moved(URIRef(namespace)))
    for subject, predicate, obj in graph:
        result.add((moved(subject), moved(predicate), moved(obj)))
    return result


def _bad_iri(graph: Graph) -> str | None:
    """The first IRI that is none, cut to 200 characters."""
    for triple in graph:
        for term in triple:
            if isinstance(term, URIRef) and (_BAD_IRI.search(term) or ":" not in term):
                return str(term)[:200]
    return None
