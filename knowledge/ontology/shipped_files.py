"""The ontologies that ship with the hub, read from their JSON files (``knowledge/data/ontologies``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rdflib import URIRef
from rdflib.namespace import OWL

from knowledge.ontology.facts import ClassFacts, OntologyFacts, PropertyFacts
from knowledge.ontology.rdf_files import to_ntriples
from knowledge.ontology.vocabulary import namespace_of
from knowledge.types.requirements import Topic

TOPIC_FILES = Path(__file__).resolve().parent.parent / "data" / "ontologies"


def shipped_ontologies() -> Iterator[tuple[str, OntologyFacts]]:
    """Give each shipped ontology with its version, by the names of their files."""
    for path in sorted(TOPIC_FILES.glob("*.json")):
        source = json.loads(path.read_text(encoding="utf-8"))
        yield source["version"], read_ontology(source)


def read_ontology(source: dict[str, Any]) -> OntologyFacts:
    """Make facts of a file's content. Raises KeyError when a mandatory field is missing."""
    base = namespace_of(source["domain"])
    topics = [_topic_class(entry, position, base) for position, entry in enumerate(source["topics"], start=1)]
    disjoint = (tuple(URIRef(base + name) for name in pair) for pair in source["disjoint"])
    return OntologyFacts(
        domain=source["domain"],
        name_ja=source["label"]["ja"],
        name_en=source["label"]["en"],
        document_types=tuple(source["document_types"]),
        classes=(*topics, *(_class(entry, base) for entry in source["classes"])),
        properties=tuple(_property(entry, base) for entry in source["properties"]),
        remainder=to_ntriples((first, OWL.disjointWith, second) for first, second in disjoint),
    )


def _topic_class(entry: dict[str, Any], position: int, base: str) -> ClassFacts:
    topic = read_topic(entry)
    shared = {name: getattr(topic, name) for name in Topic.__dataclass_fields__}
    return ClassFacts(
        iri=base + entry["class"],
        parents=_iris(entry.get("parents", ()), base),
        is_topic=True,
        position=position,
        **shared,
    )


def _class(entry: dict[str, Any], base: str) -> ClassFacts:
    definition = entry.get("definition", {"ja": "", "en": ""})
    return ClassFacts(
        iri=base + entry["class"],
        code=entry["class"],
        label_ja=entry["label"]["ja"],
        label_en=entry["label"]["en"],
        definition_ja=definition["ja"],
        definition_en=definition["en"],
        synonyms=tuple(entry["synonyms"]),
        parents=_iris(entry.get("parents", ()), base),
    )


def _property(entry: dict[str, Any], base: str) -> PropertyFacts:
    return PropertyFacts(
        iri=base + entry["property"],
        code=entry["property"],
        label_ja=entry["label"]["ja"],
        label_en=entry["label"]["en"],
        domains=_iris(entry["domain"], base),
        ranges=_iris(entry["range"], base),
        parents=_iris(entry.get("parents", ()), base),
        inverse_of=base + entry["inverse"] if "inverse" in entry else "",
        is_transitive=entry.get("transitive", False),
        is_functional=entry.get("functional", False),
    )


def _iris(names: list[str] | tuple[str, ...], base: str) -> tuple[str, ...]:
    return tuple(sorted(base + name for name in names))


def read_topic(entry: dict[str, Any]) -> Topic:
    """Make a topic from its JSON form (see ``knowledge/data/ontologies``).

    :raises KeyError: a mandatory field is missing.
    """
    return Topic(
        code=entry["code"],
        label_ja=entry["label"]["ja"],
        label_en=entry["label"]["en"],
        synonyms=tuple(entry["synonyms"]),
        cues=tuple(entry["cues"]),
        required=entry.get("required", True),
        severity=entry["severity"],
        expected_location=entry["expected_location"]["ja"],
        category=entry["category"],
        exclusions=tuple(entry.get("exclusions", ())),
        whole_document=entry.get("whole_document", False),
        expected_location_en=entry["expected_location"]["en"],
        elements_ja=tuple(entry["elements"]["ja"]),
        elements_en=tuple(entry["elements"]["en"]),
        example=entry["example"]["plain"],
        example_polite=entry["example"]["polite"],
    )
