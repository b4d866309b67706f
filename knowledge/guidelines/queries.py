"""Asking for articles: those in force as values for checks, and an edition's for comparing."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import QuerySet

from hub.core.publication import PublicationStatus
from knowledge.guidelines.diff import COMPARED, ArticleState
from knowledge.models import GuidelineArticle, GuidelineEdition
from knowledge.types.requirements import Article, RequiredElement


def editions_in_force() -> QuerySet[GuidelineEdition]:
    """The published editions, by their guideline's code."""
    return GuidelineEdition.objects.filter(status=PublicationStatus.PUBLISHED).order_by("guideline__code")


def articles_of(edition_ids: Collection[int]) -> tuple[Article, ...]:
    """The articles of some editions as values, by guideline and in order. One query."""
    rows = GuidelineArticle.objects.filter(edition_id__in=edition_ids).select_related("edition__guideline")
    return tuple(_article(row) for row in rows.order_by("edition__guideline__code", "edition__number", "position"))


def _article(row: GuidelineArticle) -> Article:
    guideline = row.edition.guideline
    return Article(
        code=row.code,
        number=row.number,
        title=row.title,
        guideline=guideline.code,
        guideline_name=guideline.name_ja,
        prefix=guideline.prefix,
        edition=row.edition.number,
        text=row.text,
        category=row.category,
        severity=row.severity,
        document_types=tuple(row.document_types),
        headings=tuple(row.headings),
        applies_when=tuple(row.applies_when),
        elements=elements_of(row),
    )


def elements_of(row: GuidelineArticle) -> tuple[RequiredElement, ...]:
    """An article's required elements as values."""
    return tuple(
        RequiredElement(name=entry["name"], words=tuple(entry["words"]), patterns=tuple(entry["patterns"]))
        for entry in row.required_elements
    )


def states_of(edition: GuidelineEdition | None) -> tuple[ArticleState, ...]:
    """An edition's articles for comparing, in order; none for no edition. One query."""
    if edition is None:
        return ()
    rows = edition.articles.select_related("parent").order_by("position")
    return tuple(
        ArticleState(
            code=row.code,
            parent=row.parent.code if row.parent else "",
            facts={name: getattr(row, name) for name in COMPARED},
        )
        for row in rows
    )
