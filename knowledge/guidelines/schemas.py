"""Shapes of guidelines, their articles and imports in answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.access.versions import PublicationStatus
from knowledge.guidelines.diff import ArticleChange
from knowledge.guidelines.drafts import ImportPreview
from knowledge.models import Guideline, GuidelineArticle, GuidelineEdition


class EditionOut(BaseModel):
    number: int
    label: str
    status: str
    effective_date: date | None
    published_at: datetime | None
    articles_count: int | None = None


class GuidelineOut(BaseModel):
    code: str
    name: str
    prefix: str = Field(description="begins the codes of its articles")
    source: str
    publisher: str
    licence: str
    edition: EditionOut | None = Field(description="the edition in force")
    editions: list[EditionOut]


class ArticleRowOut(BaseModel):
    """An article in a list."""

    article_id: str
    number: str
    title: str
    category: str
    severity: str
    document_types: list[str]
    parent_article: str | None


class ArticleOut(ArticleRowOut):
    """An article with its text and what a treatment of it must hold."""

    content: str
    guideline: str
    edition: int
    child_articles: list[str]
    headings: list[str]
    applies_when: list[str]
    required_elements: list[dict[str, Any]]
    source: str
    source_edition: str
    related_check_items: list[str]


class FieldChangeOut(BaseModel):
    field: str
    before: Any
    after: Any


class ArticleChangeOut(BaseModel):
    kind: str = Field(description="added, removed, changed or moved")
    article: str
    new_article: str | None
    title: str
    fields: list[FieldChangeOut]


class EditionDiffOut(BaseModel):
    guideline: str
    base: int | None
    edition: int
    changes: list[ArticleChangeOut]


class ProblemOut(BaseModel):
    row: int
    message: str


class ImportPreviewOut(BaseModel):
    articles: list[str] = Field(description="the codes of the articles that the file holds, in order")
    problems: list[ProblemOut]
    base: int | None = Field(description="the edition in force that the changes are against")
    changes: list[ArticleChangeOut]


def edition_out(edition: GuidelineEdition) -> EditionOut:
    """``articles_count`` is there when the query counted."""
    return EditionOut.model_validate(edition, from_attributes=True)


def guideline_out(guideline: Guideline) -> GuidelineOut:
    """Expects a guideline of ``list_guidelines``, with its shown editions."""
    editions: list[GuidelineEdition] = guideline.__dict__["shown_editions"]
    in_force = next((row for row in editions if row.status == PublicationStatus.PUBLISHED), None)
    shown = {name: getattr(guideline, name) for name in ("code", "name", "prefix", "source", "publisher", "licence")}
    return GuidelineOut(
        **shown,
        edition=edition_out(in_force) if in_force else None,
        editions=[edition_out(row) for row in editions],
    )


def article_row_out(article: GuidelineArticle) -> ArticleRowOut:
    """Expects parent to be selected."""
    return ArticleRowOut(**_row(article))


def _row(article: GuidelineArticle) -> dict[str, Any]:
    return {
        "article_id": article.code,
        "number": article.number,
        "title": article.title,
        "category": article.category,
        "severity": article.severity,
        "document_types": article.document_types,
        "parent_article": article.parent.code if article.parent else None,
    }


def article_out(article: GuidelineArticle, *, related_check_items: Sequence[str]) -> ArticleOut:
    """Expects an article of ``get_article``."""
    return ArticleOut(
        **_row(article),
        content=article.text,
        guideline=article.edition.guideline.code,
        edition=article.edition.number,
        child_articles=[child.code for child in article.children.all()],
        headings=article.headings,
        applies_when=article.applies_when,
        required_elements=article.required_elements,
        source=article.source,
        source_edition=article.source_edition,
        related_check_items=list(related_check_items),
    )


def changes_out(changes: Sequence[ArticleChange]) -> list[ArticleChangeOut]:
    """The changes in the order of the diff."""
    return [
        ArticleChangeOut(
            kind=change.kind.value,
            article=change.code,
            new_article=change.new_code or None,
            title=change.title,
            fields=[FieldChangeOut.model_validate(each, from_attributes=True) for each in change.fields],
        )
        for change in changes
    ]


def preview_out(preview: ImportPreview) -> ImportPreviewOut:
    """What an import would do."""
    return ImportPreviewOut(
        articles=list(preview.codes),
        problems=[ProblemOut.model_validate(problem, from_attributes=True) for problem in preview.problems],
        base=preview.base.number if preview.base else None,
        changes=changes_out(preview.changes),
    )
