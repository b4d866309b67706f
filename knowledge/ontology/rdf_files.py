"""RDF files: their formats, reading those that people bring in a guarded child process, and writing them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext_lazy as _
from rdflib import Graph, URIRef
from rdflib.term import Node

from hub.core.errors import Conflict, InvalidInput, LimitExceeded, Unavailable
from hub.core.languages import shown
from knowledge.models.ontology import LONGEST_REMAINDER
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.isolation import HostLost, as_it_is, run_on_bytes

FORMATS = {"rdfxml": "xml", "turtle": "turtle", "jsonld": "json-ld"}
MEDIA_TYPES = {
    "application/rdf+xml": "rdfxml",
    "text/turtle": "turtle",
    "application/x-turtle": "turtle",
    "application/ld+json": "jsonld",
}
SUFFIXES = {"rdf": "rdfxml", "owl": "rdfxml", "xml": "rdfxml", "ttl": "turtle", "jsonld": "jsonld", "json": "jsonld"}
MAX_BYTES = 5 * 1024 * 1024
MAX_TRIPLES = 100_000
LIMITS = ParseLimits(wall_s=60, cpu_s=30, memory_bytes=1024**3, max_output_bytes=LONGEST_REMAINDER)
READ_TASK = "knowledge.ontology.rdf_child:read_rdf"


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


def read_graph(data: bytes, *, rdf_format: str, domain: str) -> Graph:
    """Parse a file in a child process; relative IRIs (``#Requirement``) belong to the domain's ontology.

    :raises InvalidInput: it is not of that format, refers to another file, or has an IRI that no IRI can be.
    :raises LimitExceeded: it is larger than MAX_BYTES, has more than MAX_TRIPLES statements, or takes too much time
        or memory to read.
    :raises Unavailable: reading was interrupted from outside.
    """
    if len(data) > MAX_BYTES:
        raise LimitExceeded(_("An ontology file may have {limit} bytes; this one has more."), limit=MAX_BYTES)
    arguments = {"rdf_format": rdf_format, "domain": domain, "max_triples": MAX_TRIPLES}
    try:
        result = run_on_bytes(READ_TASK, data, as_it_is, filename="ontology.rdf", limits=LIMITS, arguments=arguments)
    except ParseError as error:
        raise LimitExceeded("{reason}", reason=shown(error.text)) from error
    except HostLost as error:
        raise Unavailable(_("Reading the file was interrupted. Try again.")) from error
    return _graph(result, rdf_format)


def _graph(result: dict[str, Any], rdf_format: str) -> Graph:
    if "unreadable" in result:
        raise InvalidInput(
            _("The file can't be read as {format}: {reason}"),
            code="unreadable_ontology",
            format=rdf_format,
            reason=str(result["unreadable"]),
        )
    if "bad_iri" in result:
        raise InvalidInput(
            _("{iri!r} is not an IRI. Correct it in the file."), code="unreadable_ontology", iri=str(result["bad_iri"])
        )
    if "triples" in result:
        raise LimitExceeded(
            _("An ontology may have {limit} statements; this one has {count}."),
            limit=MAX_TRIPLES,
            count=int(result["triples"]),
        )
    graph = from_ntriples(str(result["ntriples"]))
    for prefix, namespace in result["prefixes"]:
        graph.bind(prefix, URIRef(namespace))
    return graph
