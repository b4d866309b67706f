"""Versions of ontologies in the database: rows from facts, facts from rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import lru_cache
from itertools import islice
from typing import Any

from django.db.models import Q, QuerySet

from hub.access.versions import PublicationStatus
from hub.core.bounds import check_row
from hub.core.database import prepared_cursor
from hub.core.errors import InvalidInput
from hub.core.given_fields import GivenList, GivenText
from hub.core.routing import read_connection
from knowledge.models import Ontology, OntologyClass, OntologyProperty
from knowledge.ontology.facts import ClassFacts, ClassKind, OntologyFacts, PropertyFacts, PropertyKind
from knowledge.text.folding import fold_case
from knowledge.types.requirements import Topic

_CLASS_FIELDS = tuple(field.name for field in fields(ClassFacts) if field.name not in ("parents", "kind"))
_GIVEN = tuple(field.name for field in OntologyClass._meta.local_fields if isinstance(field, GivenText | GivenList))
_PROPERTY_RELATIONS = ("domains", "ranges", "parents", "inverse_of")
_PROPERTY_FIELDS = tuple(
    field.name for field in fields(PropertyFacts) if field.name not in (*_PROPERTY_RELATIONS, "kind")
)
MAX_ALTERNATIVES = 20
SHORTEST_LABEL = 2
Concepts = tuple[tuple[tuple[tuple[str, str], ...], ...], dict[str, list[tuple[str, int]]]]
"""Every concept's names, each as it is and folded; and by their first two characters the folded ones with the place of
their concept."""
# A row that is written again is in another place, or was written by another transaction.
_STAMP = """
SELECT count(*), coalesce(sum(hashtext(c.ctid::text || ' ' || c.xmin::text)), 0)::bigint
FROM knowledge_ontologyclass c JOIN knowledge_ontology o ON o.id = c.ontology_id WHERE o.status = 'published'
"""


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


def topics_for(domain: str) -> tuple[Topic, ...]:
    """The classes of a domain's published ontology that documents are expected to treat, in order. One query."""
    return _topics_among(
        OntologyClass.objects.filter(ontology__domain=domain, ontology__status=PublicationStatus.PUBLISHED)
    )


def topics_in(ontology: Ontology) -> tuple[Topic, ...]:
    """The classes of one version, published or not, that documents are expected to treat, in order. One query."""
    return _topics_among(OntologyClass.objects.filter(ontology=ontology))


def _topics_among(classes: QuerySet[OntologyClass]) -> tuple[Topic, ...]:
    return tuple(_topic(row) for row in classes.filter(is_topic=True).order_by("position", "code"))


def topics_of(domains: tuple[str, ...]) -> tuple[Topic, ...]:
    """The topics of several domains, domain by domain. Kept in this process for as long as no row of them has changed.

    One query where they are kept.
    """
    return _topics_as_of(_stamp(), domains)


@lru_cache(maxsize=16)
def _topics_as_of(_as_of: tuple[int, int], domains: tuple[str, ...]) -> tuple[Topic, ...]:
    return tuple(topic for domain in domains for topic in topics_for(domain))


def _topic(row: OntologyClass) -> Topic:
    values: dict[str, Any] = {each.name: _frozen(getattr(row, each.name)) for each in fields(Topic)}
    return Topic(**values)


def expand(text: str) -> dict[str, str]:
    """Other names of the concepts that ``text`` names, each with the longest name of its concept that is there.

    Longest concept first, at most 20. One or two queries.

    A concept is named when one of its labels or synonyms of two or more characters is in the text (NFKC, case
    folded), in Latin letters as a word of its own: "output" does not name UT. The names are kept in this process for
    as long as no row of them has changed.
    """
    return expand_by(text, named_concepts())


def expand_by(text: str, names: Concepts) -> dict[str, str]:
    """As ``expand``, by the names of given concepts. No query."""
    folded = fold_case(text)
    concepts, beginning = names
    named: list[tuple[str, tuple[str, ...]]] = []
    for place in places_named(folded, beginning):
        words = concepts[place]
        found = [own for word, own in words if len(word) >= SHORTEST_LABEL and own in folded and _is_whole(folded, own)]
        if found:
            others = tuple(word for word, own in words if own not in folded)
            named.append((max(found, key=len), others))
    named.sort(key=lambda pair: -len(pair[0]))
    expanded: dict[str, str] = {}
    for name, others in named:
        for other in others:
            expanded.setdefault(other, name)
    return dict(islice(expanded.items(), MAX_ALTERNATIVES))


def places_named(folded: str, beginning: Mapping[str, Sequence[tuple[str, int]]]) -> list[int]:
    """The places of the concepts of which a name is in a folded text, in order.

    Of hundreds of names nearly none is: only those are looked for that begin as some part of the text does.
    """
    begun = {folded[at : at + size] for at in range(len(folded)) for size in (1, 2)}
    return sorted({place for start in begun for own, place in beginning.get(start, ()) if own in folded})


def _is_whole(text: str, name: str) -> bool:
    """Return whether a name that is in the text is no part of a longer word in Latin letters."""
    return not name.isascii() or re.search(rf"(?<![a-z0-9]){re.escape(name)}(?:e?s)?(?![a-z0-9])", text) is not None


def _stamp() -> tuple[int, int]:
    """A pair that changes with every change of a published name, by whichever process. One query."""
    with prepared_cursor(read_connection().alias) as cursor:
        cursor.execute(_STAMP)
        count, mark = cursor.fetchone()
        return count, mark


def named_concepts() -> Concepts:
    """Every concept's names, each as it is and folded; and by their first two characters the folded ones, each with the
    place of its concept. One query where they are kept.
    """
    return _named_concepts(_stamp())


def concepts_with(draft: Ontology) -> Concepts:
    """The names of ``named_concepts`` with a draft in the place of its domain's published version. One query."""
    others = Q(ontology__status=PublicationStatus.PUBLISHED) & ~Q(ontology__domain=draft.domain)
    return _concepts_of(OntologyClass.objects.filter(others | Q(ontology=draft)))


@lru_cache(maxsize=2)
def _named_concepts(_as_of: tuple[int, int]) -> Concepts:
    return _concepts_of(OntologyClass.objects.filter(ontology__status=PublicationStatus.PUBLISHED))


def _concepts_of(classes: QuerySet[OntologyClass]) -> Concepts:
    rows = classes.order_by("ontology__domain", "position", "code").values_list("label_ja", "label_en", "synonyms")
    concepts = tuple(
        tuple((word, fold_case(word)) for word in (label_ja, label_en, *synonyms))
        for label_ja, label_en, synonyms in rows
    )
    beginning: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for place, words in enumerate(concepts):
        for _word, own in words:
            beginning[own[:2]].append((own, place))
    return concepts, dict(beginning)
