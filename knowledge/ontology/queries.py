"""Asking the published ontologies: the topics of a domain, and other words for a query's words."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from django.db import connection

from hub.core.publication import PublicationStatus
from knowledge.models import OntologyClass
from knowledge.text.folding import fold_case
from knowledge.types.requirements import Topic

MAX_ALTERNATIVES = 20
SHORTEST_LABEL = 2
# A row that is written again stands in another place, or was written by another transaction.
_STAMP = """
SELECT count(*), coalesce(sum(hashtext(c.ctid::text || ' ' || c.xmin::text)), 0)::bigint
FROM knowledge_ontologyclass c JOIN knowledge_ontology o ON o.id = c.ontology_id WHERE o.status = 'published'
"""


def topics_for(domain: str) -> tuple[Topic, ...]:
    """The classes of a domain's published ontology that documents are expected to treat, in order. One query."""
    classes = OntologyClass.objects.filter(
        ontology__domain=domain, ontology__status=PublicationStatus.PUBLISHED, is_topic=True
    )
    return tuple(_topic(row) for row in classes.order_by("position", "code"))


def topics_of(domains: tuple[str, ...]) -> tuple[Topic, ...]:
    """The topics of several domains, domain by domain. Kept in this process for as long as no row of them has changed.

    One query where they are kept.
    """
    return _topics_as_of(_stamp(), domains)


@lru_cache(maxsize=16)
def _topics_as_of(_as_of: tuple[int, int], domains: tuple[str, ...]) -> tuple[Topic, ...]:
    return tuple(topic for domain in domains for topic in topics_for(domain))


def _topic(row: OntologyClass) -> Topic:
    return Topic(
        code=row.code,
        label_ja=row.label_ja,
        label_en=row.label_en,
        synonyms=tuple(row.synonyms),
        cues=tuple(row.cues),
        required=row.required,
        severity=row.severity,
        expected_location=row.expected_location,
        category=row.category,
        exclusions=tuple(row.exclusions),
        whole_document=row.whole_document,
        expected_location_en=row.expected_location_en,
        elements_ja=tuple(row.elements_ja),
        elements_en=tuple(row.elements_en),
        example=row.example,
        example_polite=row.example_polite,
    )


def expand(text: str) -> dict[str, str]:
    """Other names of the concepts that ``text`` names, each with the longest name of its concept that stands there.

    Longest concept first, at most 20. One or two queries.

    A concept is named when one of its labels or synonyms of two or more characters stands in the text (NFKC, case
    folded), in Latin letters as a word of its own: "output" does not name UT. The names are kept in this process for
    as long as no row of them has changed.
    """
    folded = fold_case(text)
    concepts, places = _named_concepts(_stamp())
    named: list[tuple[str, tuple[str, ...]]] = []
    # Of hundreds of names nearly none stands in the text, so that is asked first, of all of them at once.
    for place in dict.fromkeys(place for own, place in places if own in folded):
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


def _is_whole(text: str, name: str) -> bool:
    """Tell whether a name that stands in the text is no part of a longer word in Latin letters."""
    return not name.isascii() or re.search(rf"(?<![a-z0-9]){re.escape(name)}(?:e?s)?(?![a-z0-9])", text) is not None


def _stamp() -> tuple[int, int]:
    """A pair that changes with every change of a published name, by whichever process. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_STAMP)
        count, mark = cursor.fetchone()
        return count, mark


@lru_cache(maxsize=2)
def _named_concepts(
    _as_of: tuple[int, int],
) -> tuple[tuple[tuple[tuple[str, str], ...], ...], tuple[tuple[str, int], ...]]:
    """Every concept's names, each as it is and folded, and the folded ones with their concept's place."""
    rows = OntologyClass.objects.filter(ontology__status=PublicationStatus.PUBLISHED).values_list(
        "label_ja", "label_en", "synonyms"
    )
    concepts = tuple(
        tuple((word, fold_case(word)) for word in (label_ja, label_en, *synonyms))
        for label_ja, label_en, synonyms in rows
    )
    return concepts, tuple((own, place) for place, words in enumerate(concepts) for _word, own in words)
