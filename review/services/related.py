"""Related documents of a review: which may be named, pinning them, and who sees quotes from them."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import Conflict, InvalidInput
from knowledge.models import Document, DocumentVersion
from knowledge.services.documents import get_document
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


def hide_unseen_quotes(principal: Principal, review: Review) -> None:
    """Take quotes from related documents that the caller may not read out of the loaded findings (not the stored)."""
    related = set(review.options.get("related_documents", ()))
    if not related:
        return
    seen = Document.objects.visible_to(principal).filter(public_id__in=related).values_list("public_id", flat=True)
    hidden = related - set(seen)
    for result in review.results.all():
        for finding in result.findings.all():
            finding.evidence = [item for item in finding.evidence if item["document_id"] not in hidden]
