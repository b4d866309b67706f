"""The hub's IRIs, and how names are written and read: ``hub:Performance`` in the ontology of a domain."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rdflib import Namespace
from rdflib.namespace import OWL, RDF, RDFS, SKOS, XSD

# What the hub says of classes beyond OWL and SKOS: cues, requiredness, expected location.
HUBV = Namespace("urn:hub:vocabulary#")
STANDARD_PREFIXES = {
    "rdf": str(RDF),
    "rdfs": str(RDFS),
    "owl": str(OWL),
    "skos": str(SKOS),
    "xsd": str(XSD),
    "hubv": str(HUBV),
}
_LOCAL = re.compile(r"[^#/:]*$")


def ontology_iri(domain: str) -> str:
    """The IRI of a domain's ontology itself."""
    return f"urn:hub:ontology:{domain}"


def namespace_of(domain: str) -> str:
    """What ``hub:`` stands for in a domain.

    >>> namespace_of("test_plan") + "UnitTest"
    'urn:hub:ontology:test_plan#UnitTest'
    """
    return f"{ontology_iri(domain)}#"


def local_name(iri: str) -> str:
    """The last part of an IRI, or all of it when it ends in a separator."""
    found = _LOCAL.search(iri)
    return (found[0] if found else "") or iri


def prefixes_of(domain: str, own: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Every prefix by which names of this ontology may be written; the file's own do not override the hub's."""
    return {**dict(own), **STANDARD_PREFIXES, "hub": namespace_of(domain)}


def compact(iri: str, prefixes: dict[str, str]) -> str:
    """Write an IRI as a prefixed name where one of the prefixes fits (the longest), else in angle brackets."""
    fitting = [(prefix, base) for prefix, base in prefixes.items() if base and iri.startswith(base)]
    if not fitting:
        return f"<{iri}>"
    prefix, base = max(fitting, key=lambda pair: len(pair[1]))
    return f"{prefix}:{iri[len(base) :]}"


def expand(name: str, prefixes: dict[str, str]) -> str:
    """Read an IRI (``<…>`` allowed) or a prefixed name; a name without a known prefix comes back as it is."""
    name = name.strip().removeprefix("<").removesuffix(">")
    prefix, colon, local = name.partition(":")
    if colon and prefix in prefixes and not local.startswith("//"):
        return prefixes[prefix] + local
    return name
