"""What the guidelines in force say as nodes and edges: articles, what contains what, and who must comply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from knowledge.guidelines.queries import editions_in_force
from knowledge.models import DocumentType, EditionStatus, GuidelineArticle


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFact:
    """A node by its type and its id within that type (an article's or a document type's code)."""

    type: str
    id: str
    name: str
    properties: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeFact:
    """An edge from one node to another, each given as (type, id)."""

    type: str
    source: tuple[str, str]
    target: tuple[str, str]
    properties: Mapping[str, str | int] = field(default_factory=dict)


def article_nodes() -> Iterator[NodeFact]:
    """Yield a GuidelineArticle node per article in force, by guideline and in order. One query."""
    rows = GuidelineArticle.objects.filter(edition__in=editions_in_force()).select_related("edition__guideline")
    for row in rows.order_by("edition__guideline__code", "position").iterator():
        properties: dict[str, str | int] = {
            "number": row.number,
            "category": row.category,
            "severity": row.severity,
            "guideline": row.edition.guideline.code,
            "edition": row.edition.number,
        }
        yield NodeFact(type="GuidelineArticle", id=row.code, name=row.title, properties=properties)


def article_edges() -> Iterator[EdgeFact]:
    """Yield CONTAINS from an article to each article below it. One query."""
    rows = GuidelineArticle.objects.filter(edition__status=EditionStatus.PUBLISHED, parent__isnull=False)
    for parent, code in rows.order_by("code").values_list("parent__code", "code").iterator():
        yield EdgeFact(type="CONTAINS", source=("GuidelineArticle", parent), target=("GuidelineArticle", code))


def must_comply_edges() -> Iterator[EdgeFact]:
    """Yield MUST_COMPLY from each document type to the articles that its documents must treat. Two queries."""
    known = set(DocumentType.objects.values_list("code", flat=True))
    rows = GuidelineArticle.objects.filter(edition__status=EditionStatus.PUBLISHED).exclude(document_types=[])
    for code, severity, types in rows.order_by("code").values_list("code", "severity", "document_types").iterator():
        for document_type in types:
            if document_type in known:
                yield EdgeFact(
                    type="MUST_COMPLY",
                    source=("DocumentType", document_type),
                    target=("GuidelineArticle", code),
                    properties={"severity": severity},
                )
