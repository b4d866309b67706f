"""The hub's IRIs, how names are written and read, and which constructs of a file are kept without being used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rdflib import Graph, Namespace, URIRef
from rdflib.namespace import OWL, RDF, RDFS, SKOS, XSD
from rdflib.term import Node

from knowledge.types.notices import text_of

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
SH = "http://www.w3.org/ns/shacl#"
SWRL = "http://www.w3.org/2003/11/swrl#"
VOCABULARIES = {
    "rdf": str(RDF),
    "rdfs": str(RDFS),
    "owl": str(OWL),
    "skos": str(SKOS),
    "sh": SH,
    "swrl": SWRL,
}
# Shown in the admin or used by the reasoner.
_UNDERSTOOD = {
    *(RDFS[name] for name in ("subClassOf", "subPropertyOf", "domain", "range", "label", "comment", "isDefinedBy")),
    *(RDFS[name] for name in ("Class", "seeAlso", "Datatype", "Literal", "Resource")),
    *(RDF[name] for name in ("type", "Property", "first", "rest", "nil", "langString")),
    *(OWL[name] for name in ("Class", "ObjectProperty", "DatatypeProperty", "AnnotationProperty", "Ontology")),
    *(OWL[name] for name in ("Thing", "NamedIndividual", "inverseOf", "TransitiveProperty", "SymmetricProperty")),
    *(OWL[name] for name in ("FunctionalProperty", "equivalentClass", "equivalentProperty", "disjointWith")),
    *(OWL[name] for name in ("AllDisjointClasses", "members", "Restriction", "onProperty", "differentFrom")),
    *(OWL[name] for name in ("minCardinality", "maxCardinality", "cardinality", "onClass", "versionInfo")),
    *(OWL[name] for name in ("minQualifiedCardinality", "maxQualifiedCardinality", "qualifiedCardinality")),
    *(SKOS[name] for name in ("Concept", "ConceptScheme", "prefLabel", "altLabel", "broader", "notation")),
    *(SKOS[name] for name in ("definition", "inScheme", "hasTopConcept", "topConceptOf", "scopeNote", "note")),
}
_NOT_FETCHED = OWL.imports


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Construct:
    """A term of a known vocabulary that the hub only keeps. ``example`` is a subject that uses it."""

    term: str
    count: int
    example: str
    note_ja: str
    note_en: str


def kept_only(graph: Graph) -> tuple[Construct, ...]:
    """List the constructs of RDF, RDFS, OWL, SKOS, SHACL and SWRL that are kept as they are and nothing more."""
    counts: Counter[URIRef] = Counter()
    examples: dict[URIRef, Node] = {}
    for subject, predicate, obj in sorted(graph, key=lambda triple: (str(triple[1]), str(triple[0]), str(triple[2]))):
        for term in {predicate, *([obj] if predicate == RDF.type else ())}:
            if (
                isinstance(term, URIRef)
                and term not in _UNDERSTOOD
                and str(term).startswith(tuple(VOCABULARIES.values()))
            ):
                counts[term] += 1
                examples.setdefault(term, subject)
    return tuple(_construct(term, counts[term], examples[term]) for term in sorted(counts))


def _construct(term: URIRef, count: int, example: Node) -> Construct:
    why = "not_fetched" if term == _NOT_FETCHED else "shapes" if term.startswith(SH) else "kept"
    note = text_of("constructs", why)
    shown = compact(str(example), VOCABULARIES) if isinstance(example, URIRef) else "[]"
    return Construct(
        term=compact(str(term), VOCABULARIES), count=count, example=shown, note_ja=note.ja, note_en=note.en
    )
