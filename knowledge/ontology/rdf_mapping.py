"""Which RDF says what of the hub's classes and properties, without loss in either direction.

``rdf_reading`` and ``rdf_writing`` both go by these tables. A file's graph is what the facts say,
without what is suppressed, and with the remainder: ``graph == (modelled(facts) - suppressed) + remainder``. Nothing
that the hub writes by itself has blank nodes, so the differences are exact.
"""

from __future__ import annotations

import re

from rdflib.namespace import OWL, RDF, RDFS, SKOS

from knowledge.ontology.facts import ClassKind, PropertyKind
from knowledge.ontology.vocabulary import HUBV

CLASS_TYPES = {ClassKind.OWL: OWL.Class, ClassKind.RDFS: RDFS.Class, ClassKind.CONCEPT: SKOS.Concept}
PROPERTY_TYPES = {
    PropertyKind.OBJECT: OWL.ObjectProperty,
    PropertyKind.DATATYPE: OWL.DatatypeProperty,
    PropertyKind.ANNOTATION: OWL.AnnotationProperty,
    PropertyKind.RDF: RDF.Property,
}
CHARACTERISTICS = {
    "is_transitive": OWL.TransitiveProperty,
    "is_symmetric": OWL.SymmetricProperty,
    "is_functional": OWL.FunctionalProperty,
}
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
TEXT_FIELDS = {
    "definition_ja": (SKOS.definition, "ja"),
    "definition_en": (SKOS.definition, "en"),
    "expected_location": (HUBV.expectedLocation, "ja"),
    "expected_location_en": (HUBV.expectedLocation, "en"),
    "example": (HUBV.examplePlain, "ja"),
    "example_polite": (HUBV.examplePolite, "ja"),
}
# Lists whose order means something are one text, a line for each entry: RDF has no other order without blank nodes.
LINE_FIELDS = {"elements_ja": (HUBV.elements, "ja"), "elements_en": (HUBV.elements, "en")}
SET_FIELDS = {"cues": HUBV.cue, "exclusions": HUBV.exclusion}
FLAG_FIELDS = {"is_topic": HUBV.isTopic, "required": HUBV.isRequired, "whole_document": HUBV.isAboutWholeDocument}


def language_of(text: str) -> str:
    """Tell by its letters in which of the two languages a word is written.

    >>> language_of("単体テスト"), language_of("unit test")
    ('ja', 'en')
    """
    return "ja" if _JAPANESE.search(text) else "en"
