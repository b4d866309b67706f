"""Loading the related documents that a review has pinned."""

from __future__ import annotations

from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import DocumentVersion, VersionContent
from review.models import Review
from review.types import RelatedDocument


class RelatedGoneError(LookupError):
    """A related document was deleted before the review was done."""


def related_of(review: Review) -> tuple[RelatedDocument, ...]:
    """Return a review's related documents as pinned, in the order they were named, in two queries.

    :raises RelatedGoneError: one of them was deleted.
    """
    pinned = list(review.related.select_related("version__document"))
    contents = VersionContent.objects.in_bulk([row.version_id for row in pinned if row.version_id])
    found = []
    for row in pinned:
        content = contents.get(row.version_id) if row.version_id else None
        if row.version is None or content is None:
            raise RelatedGoneError("a related document was deleted")
        found.append(related_document(row.version, content))
    return tuple(found)


def related_document(version: DocumentVersion, content: VersionContent) -> RelatedDocument:
    """Make what rules see of a related version. Expects its document to be selected."""
    return RelatedDocument(
        document_id=version.document.public_id,
        title=content.title or version.filename,
        document_type=version.document.document_type_id or "other",
        text=content.markdown,
        sections=sections_of(content),
        blocks=blocks_of(content),
    )
