"""What a file says that the hub keeps and exports, but neither shows nor reasons with: named, never dropped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from rdflib import Graph, URIRef
from rdflib.namespace import OWL, RDF, RDFS, SKOS
from rdflib.term import Node

from knowledge.ontology.vocabulary import compact

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
    note_ja, note_en = _note(term)
    shown = compact(str(example), VOCABULARIES) if isinstance(example, URIRef) else "[]"
    return Construct(
        term=compact(str(term), VOCABULARIES), count=count, example=shown, note_ja=note_ja, note_en=note_en
    )


def _note(term: URIRef) -> tuple[str, str]:
    if term == _NOT_FETCHED:
        return (
            "参照先は取得しません。必要なら内容をファイルに含めてください。",
            "Not fetched; put its content into the file.",
        )
    if term.startswith(SH):
        return "SHACL の検証で使います。推論には使いません。", "Used by SHACL validation, not by the reasoner."
    return "そのまま保存し書き出しますが、推論・網羅性検査には使いません。", "Kept and exported, not used by checks."
