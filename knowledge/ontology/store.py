"""Versions of ontologies in the database: rows from facts, facts from rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from hub.core.bounds import check_row
from hub.core.errors import InvalidInput
from hub.core.given_fields import GivenList, GivenText
from knowledge.models import Ontology, OntologyClass, OntologyProperty
from knowledge.ontology.facts import ClassFacts, ClassKind, OntologyFacts, PropertyFacts, PropertyKind

_CLASS_FIELDS = tuple(field.name for field in fields(ClassFacts) if field.name not in ("parents", "kind"))
_GIVEN = tuple(field.name for field in OntologyClass._meta.local_fields if isinstance(field, GivenText | GivenList))
_PROPERTY_RELATIONS = ("domains", "ranges", "parents", "inverse_of")
_PROPERTY_FIELDS = tuple(
    field.name for field in fields(PropertyFacts) if field.name not in (*_PROPERTY_RELATIONS, "kind")
)


def load_facts(ontology: Ontology) -> OntologyFacts:
    """Read a version whole. Seven queries, whatever its size."""
    classes = ontology.classes.prefetch_related("parents").order_by("position", "code")
    properties = ontology.properties.select_related("inverse_of").prefetch_related("domains", "ranges", "parents")
    return OntologyFacts(
        domain=ontology.domain,
        name_ja=ontology.name_ja,
        name_en=ontology.name_en,
        document_types=tuple(ontology.document_types),
        classes=tuple(_class_facts(row) for row in classes),
        properties=tuple(_property_facts(row) for row in properties.order_by("code")),
        remainder=ontology.remainder,
        suppressed=ontology.suppressed,
        prefixes=tuple((prefix, base) for prefix, base in ontology.prefixes),
    )


def check_sizes(facts: OntologyFacts) -> None:
    """Refuse classes with texts or lists that are too long. Raises InvalidInput naming the class."""
    for row in facts.classes:
        try:
            check_row(OntologyClass(**_plain(row)), only=_GIVEN)
        except InvalidInput as error:
            raise InvalidInput("{name}: {problem}", name=row.code, problem=str(error)) from error


def fill(ontology: Ontology, facts: OntologyFacts) -> None:
    """Write the classes and properties of a new, still empty version."""
    classes = {row.iri: OntologyClass(ontology=ontology, kind=row.kind.value, **_plain(row)) for row in facts.classes}
    OntologyClass.objects.bulk_create(classes.values())
    link = OntologyClass.parents.through
    link.objects.bulk_create(
        link(from_ontologyclass_id=classes[row.iri].pk, to_ontologyclass_id=classes[parent].pk)
        for row in facts.classes
        for parent in row.parents
    )
    _fill_properties(ontology, facts, classes)


def _fill_properties(ontology: Ontology, facts: OntologyFacts, classes: dict[str, OntologyClass]) -> None:
    rows = {
        row.iri: OntologyProperty(
            ontology=ontology, kind=row.kind.value, **{name: getattr(row, name) for name in _PROPERTY_FIELDS}
        )
        for row in facts.properties
    }
    OntologyProperty.objects.bulk_create(rows.values())
    for row in facts.properties:
        stored = rows[row.iri]
        stored.domains.set([classes[iri] for iri in row.domains])
        stored.ranges.set([classes[iri] for iri in row.ranges])
        stored.parents.set([rows[iri] for iri in row.parents])
        stored.inverse_of = rows.get(row.inverse_of)
    OntologyProperty.objects.bulk_update(rows.values(), ["inverse_of"])


def _plain(row: ClassFacts) -> dict[str, object]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(row).items()
        if name in _CLASS_FIELDS
    }


def _class_facts(row: OntologyClass) -> ClassFacts:
    plain = {name: _frozen(getattr(row, name)) for name in _CLASS_FIELDS}
    return ClassFacts(kind=ClassKind(row.kind), parents=_iris(row.parents.all()), **plain)


def _property_facts(row: OntologyProperty) -> PropertyFacts:
    return PropertyFacts(
        kind=PropertyKind(row.kind),
        domains=_iris(row.domains.all()),
        ranges=_iris(row.ranges.all()),
        parents=_iris(row.parents.all()),
        inverse_of=row.inverse_of.iri if row.inverse_of else "",
        **{name: getattr(row, name) for name in _PROPERTY_FIELDS},
    )


def _iris(rows: Iterable[OntologyClass | OntologyProperty]) -> tuple[str, ...]:
    return tuple(sorted(row.iri for row in rows))


def _frozen(value: Any) -> Any:  # noqa: ANN401 - a field's value, whatever it is
    return tuple(value) if isinstance(value, list) else value
