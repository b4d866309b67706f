"""The regular expressions that are stored for everybody, and those of them that could not be stored today."""

from __future__ import annotations

from collections.abc import Iterator

from hub.access.versions import PublicationStatus
from hub.core.patterns import PatternRefused, check_pattern
from knowledge.guidelines.editions import elements_of
from knowledge.models import GuidelineArticle, IdentifierPattern, OntologyClass
from knowledge.ontology.titles import HEADING_CUE


def refused_patterns() -> list[PatternRefused]:
    """The patterns in force that would be refused if they were saved now, each with its place and the reason.

    They were stored by an earlier version. Those that compile go on working within the limit of time of a match.
    """
    return [refusal for where, pattern in _stored() if (refusal := _refusal(pattern, where)) is not None]


def _refusal(pattern: str, where: str) -> PatternRefused | None:
    try:
        check_pattern(pattern, where=where)
    except PatternRefused as refused:
        return refused
    return None


def _stored() -> Iterator[tuple[str, str]]:
    """Places and patterns: identifiers, published ontologies, guideline editions in force. Three queries."""
    for pattern in IdentifierPattern.objects.filter(is_active=True).order_by("pattern"):
        yield "identifier pattern", pattern.pattern
    classes = OntologyClass.objects.filter(ontology__status=PublicationStatus.PUBLISHED).select_related("ontology")
    for row in classes.order_by("ontology__domain", "code"):
        for text in (*row.cues, *row.exclusions):
            yield f"ontology {row.ontology.domain}, {row.code}", text.removeprefix(HEADING_CUE)
    articles = GuidelineArticle.objects.filter(edition__status=PublicationStatus.PUBLISHED)
    for article in articles.select_related("edition__guideline").order_by("edition", "pk"):
        place = f"guideline article {article.edition.guideline.prefix}{article.number}"
        patterns = (text for element in elements_of(article) for text in element.patterns)
        yield from ((place, text) for text in (*article.applies_when, *patterns))
