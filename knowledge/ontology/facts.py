"""An ontology version as value objects, apart from where it is kept: rows and RDF are both made from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ClassKind(StrEnum):
    """How a class is written in RDF; exported as it came."""

    OWL = "owl"
    RDFS = "rdfs"
    CONCEPT = "concept"


class PropertyKind(StrEnum):
    OBJECT = "object"
    DATATYPE = "datatype"
    ANNOTATION = "annotation"
    RDF = "rdf"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassFacts:
    """A class; what the fields for coverage mean is said in :class:`knowledge.types.requirements.Topic`.

    ``parents`` are IRIs of classes of the same ontology. ``is_topic`` says whether documents are expected to treat it.
    """

    iri: str
    code: str
    kind: ClassKind = ClassKind.OWL
    label_ja: str = ""
    label_en: str = ""
    definition_ja: str = ""
    definition_en: str = ""
    synonyms: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    is_topic: bool = False
    position: int = 0
    required: bool = False
    severity: str = "major"
    category: str = ""
    whole_document: bool = False
    expected_location: str = ""
    expected_location_en: str = ""
    cues: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    elements_ja: tuple[str, ...] = ()
    elements_en: tuple[str, ...] = ()
    example: str = ""
    example_polite: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyFacts:
    """A property. ``domains``, ``ranges``, ``parents`` and ``inverse_of`` are IRIs of the same ontology.

    ``datatype`` is the IRI of a literal's type where the range is one.
    """

    iri: str
    code: str
    kind: PropertyKind = PropertyKind.OBJECT
    label_ja: str = ""
    label_en: str = ""
    domains: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    datatype: str = ""
    parents: tuple[str, ...] = ()
    inverse_of: str = ""
    is_transitive: bool = False
    is_symmetric: bool = False
    is_functional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OntologyFacts:
    """One version of a domain's ontology: what the hub models, and the rest of the graph beside it.

    ``remainder`` holds as N-Triples every statement that is not modelled; ``suppressed`` those that the model would
    write but the imported file did not have, so that an export says exactly what the import said. ``prefixes`` are
    the file's own.
    """

    domain: str
    name_ja: str
    name_en: str
    document_types: tuple[str, ...] = ()
    classes: tuple[ClassFacts, ...] = ()
    properties: tuple[PropertyFacts, ...] = ()
    remainder: str = ""
    suppressed: str = ""
    prefixes: tuple[tuple[str, str], ...] = ()
