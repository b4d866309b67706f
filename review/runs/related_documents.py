"""Related documents of a review: which may be named, pinning them, which of them a caller may read."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import Conflict, InvalidInput
from knowledge.documents.documents import get_document
from knowledge.models import Document, DocumentVersion
from review.models import RelatedVersion, Review

MAX_RELATED = 20


def related_versions(
    principal: Principal, document_ids: Sequence[str], *, reviewed: Document
) -> list[tuple[Document, DocumentVersion]]:
    """Find the current versions of the documents to compare with, in the order named, none twice.

    Raises NotFound (also for hidden ones), InvalidInput (the reviewed document itself, or too many), Conflict (not
    ready yet).
    """
    named = list(dict.fromkeys(document_ids))
    if reviewed.public_id in named:
        raise InvalidInput(
            _("related_documents: {document_id} is the reviewed document."), document_id=reviewed.public_id
        )
    if len(named) > MAX_RELATED:
        raise InvalidInput(_("related_documents: at most {limit} documents."), limit=MAX_RELATED)
    found = []
    for document_id in named:
        document = get_document(principal, document_id)
        if document.current_version is None:
            raise Conflict(
                _('The related document "{document_id}" is not ready yet. Wait until its status is ready.'),
                code="related_not_ready",
                document_id=document_id,
            )
        found.append((document, document.current_version))
    return found


def pin_related(review: Review, related: Sequence[tuple[Document, DocumentVersion]]) -> None:
    """Store the related versions with the review, to be called in the transaction that makes it."""
    RelatedVersion.objects.bulk_create(
        RelatedVersion(
            review=review,
            position=position,
            version=version,
            document_id_text=document.public_id,
            version_number=version.number,
        )
        for position, (document, version) in enumerate(related)
    )


def readable_related(principal: Principal, review: Review) -> list[str]:
    """The ids of the review's related documents that the caller may read, in the order they were named. One query."""
    related = review.related.filter(version__document__in=Document.objects.visible_to(principal).values("pk"))
    return list(related.values_list("document_id_text", flat=True))
