"""The formats of RDF files, and writing them."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext_lazy as _
from rdflib import Graph
from rdflib.term import Node

from hub.core.errors import Conflict

FORMATS = {"rdfxml": "xml", "turtle": "turtle", "jsonld": "json-ld"}
MEDIA_TYPES = {
    "application/rdf+xml": "rdfxml",
    "text/turtle": "turtle",
    "application/x-turtle": "turtle",
    "application/ld+json": "jsonld",
}
SUFFIXES = {"rdf": "rdfxml", "owl": "rdfxml", "xml": "rdfxml", "ttl": "turtle", "jsonld": "jsonld", "json": "jsonld"}


def format_of(*, content_type: str = "", filename: str = "") -> str | None:
    """Tell the format (a key of FORMATS) by the media type, else by the file's ending; None for others."""
    by_type = MEDIA_TYPES.get(content_type.partition(";")[0].strip().lower())
    return by_type or SUFFIXES.get(filename.rpartition(".")[2].lower())


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
