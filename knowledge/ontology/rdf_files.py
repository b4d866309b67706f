"""Reading and writing RDF files within limits: nothing is fetched, no file is opened, no entity is expanded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any
from xml.parsers import expat
from xml.sax import SAXParseException

from django.utils.translation import gettext_lazy as _
from rdflib import Graph, URIRef
from rdflib.exceptions import ParserError
from rdflib.plugins.parsers.jsonld import to_rdf
from rdflib.plugins.parsers.notation3 import BadSyntax
from rdflib.term import Node

from hub.core.errors import Conflict, InvalidInput, LimitExceeded
from knowledge.ontology.vocabulary import ontology_iri

MAX_BYTES = 5 * 1024 * 1024
MAX_TRIPLES = 100_000
MAX_ENTITY = 300
FORMATS = {"rdfxml": "xml", "turtle": "turtle", "jsonld": "json-ld"}
MEDIA_TYPES = {
    "application/rdf+xml": "rdfxml",
    "text/turtle": "turtle",
    "application/x-turtle": "turtle",
    "application/ld+json": "jsonld",
}
SUFFIXES = {"rdf": "rdfxml", "owl": "rdfxml", "xml": "rdfxml", "ttl": "turtle", "jsonld": "jsonld", "json": "jsonld"}
_BAD_IRI = re.compile(r'[\x00-\x20<>"{}|\\^`]')
_ENTITY_REFERENCE = re.compile(r"&(?!#|amp;|lt;|gt;|quot;|apos;)")


def format_of(*, content_type: str = "", filename: str = "") -> str | None:
    """Tell the format (a key of FORMATS) by the media type, else by the file's ending; None for others."""
    by_type = MEDIA_TYPES.get(content_type.partition(";")[0].strip().lower())
    return by_type or SUFFIXES.get(filename.rpartition(".")[2].lower())


def read_graph(data: bytes, *, rdf_format: str, domain: str) -> Graph:
    """Parse a file; relative IRIs (``#Requirement``) belong to the domain's ontology.

    :raises InvalidInput: it is not of that format, refers to another file, or has an IRI that no IRI can be.
    :raises LimitExceeded: it is larger than MAX_BYTES or has more than MAX_TRIPLES statements.
    """
    if len(data) > MAX_BYTES:
        raise LimitExceeded(_("An ontology file may have {limit} bytes; this one has more."), limit=MAX_BYTES)
    base = f"http://hub.invalid/{domain}"  # a urn is no base that relative IRIs can be joined to
    graph = Graph(store="SimpleMemory", bind_namespaces="none")
    try:
        _parse(data, graph, rdf_format, base)
    except (BadSyntax, ParserError, SAXParseException, expat.ExpatError, ValueError, TypeError, KeyError) as error:
        raise _unreadable(rdf_format, " ".join(str(error).split())[:300]) from error
    except (RecursionError, AttributeError, IndexError, AssertionError) as error:  # rdflib's own ways to stumble
        raise _unreadable(rdf_format, f"{type(error).__name__}") from error
    if len(graph) > MAX_TRIPLES:
        raise LimitExceeded(
            _("An ontology may have {limit} statements; this one has {count}."), limit=MAX_TRIPLES, count=len(graph)
        )
    return _checked(_rebased(graph, base, ontology_iri(domain)))


def _parse(data: bytes, graph: Graph, rdf_format: str, base: str) -> None:
    if rdf_format == "jsonld":
        # Graph.parse would make a graph of a class that rdflib itself warns of; named graphs are refused here.
        to_rdf(_checked_json(data), graph, base)
        return
    if rdf_format == "rdfxml":
        _check_xml(data)
    graph.parse(data=data, format=FORMATS[rdf_format], publicID=base)


def write_graph(graph: Graph, *, rdf_format: str) -> bytes:
    """Serialise a graph. Raises Conflict when RDF/XML has no way to write one of its properties."""
    try:
        return graph.serialize(format=FORMATS[rdf_format], encoding="utf-8")
    except ValueError as error:
        raise Conflict(
            _("This ontology can't be written as {format} ({reason}). Ask for text/turtle instead."),
            format=rdf_format,
            reason=str(error)[:300],
        ) from error


def to_ntriples(triples: Iterable[tuple[Node, Node, Node]]) -> str:
    """Write statements one a line, sorted."""
    graph = Graph(store="SimpleMemory", bind_namespaces="none")
    for triple in triples:
        graph.add(triple)
    return "\n".join(sorted(line for line in graph.serialize(format="nt").splitlines() if line))


def from_ntriples(text: str) -> Graph:
    """Read what :func:`to_ntriples` wrote."""
    graph = Graph(store="SimpleMemory", bind_namespaces="none")
    if text:
        graph.parse(data=text, format="nt")
    return graph


def _unreadable(rdf_format: str, reason: str) -> InvalidInput:
    return InvalidInput(
        _("The file can't be read as {format}: {reason}"), code="unreadable_ontology", format=rdf_format, reason=reason
    )


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
        if size > 4 * MAX_BYTES:
            raise ValueError("its entities make it too large")

    parser.EntityDeclHandler = declared
    parser.CharacterDataHandler = counted
    parser.StartElementHandler = lambda name, attributes: counted(name + "".join(attributes.values()))
    parser.Parse(data, True)


def _checked_json(data: bytes) -> Any:  # noqa: ANN401 - JSON
    """Refuse a JSON-LD context that stands elsewhere."""
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


def _checked(graph: Graph) -> Graph:
    for triple in graph:
        for term in triple:
            if isinstance(term, URIRef) and (_BAD_IRI.search(term) or ":" not in term):
                raise InvalidInput(
                    _("{iri!r} is not an IRI. Correct it in the file."), code="unreadable_ontology", iri=str(term)[:200]
                )
    return graph
