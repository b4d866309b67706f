"""Finding a document, and what holds for it whoever does something with it."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.models import Collection, Document, DocumentType


def get_document(principal: Principal, document_id: str, *, scope: Scope = Scope.READ) -> Document:
    """Find a document with its collection and versions in one query. Raises NotFound, also for what one may not see."""
    principal.require(scope)
    document = (
        Document.objects.visible_to(principal, scope)
        .select_related("collection", "latest_version__blob", "current_version")
        .filter(public_id=document_id)
        .first()
    )
    if document is None:
        raise NotFound(_('There is no document "{document_id}".'), code="document_not_found", document_id=document_id)
    return document


def changeable_document(principal: Principal, document_id: str) -> Document:
    """Find a document the caller may change: a curator of its collection, or who uploaded it and still may.

    Raises NotFound, Forbidden.
    """
    document = get_document(principal, document_id)
    curates = Collection.objects.visible_to(principal, Scope.CURATE).filter(pk=document.collection_id).exists()
    uploads = document.owner_id is not None and document.owner_id == principal.user_id
    if not (curates or (uploads and principal.allows(Scope.UPLOAD))):
        raise Forbidden(_("Only a curator of the collection, or who uploaded the document, may do this."))
    return document


def check_document_type(code: str) -> None:
    """Raise InvalidInput, naming the known ones, for a document type that is not there; empty means not said."""
    known = sorted(DocumentType.objects.values_list("code", flat=True))
    if code and code not in known:
        raise InvalidInput(
            _('There is no document type "{given}". Known: {known}.'),
            code="unknown_document_type",
            given=code,
            known=", ".join(known),
        )


def check_ceiling(principal: Principal, wanted: Classification) -> None:
    """Raise Forbidden when the caller may not handle documents of this classification."""
    if wanted > principal.ceiling:
        raise Forbidden(
            _("You may handle documents up to {ceiling}; this one would be {wanted}."),
            ceiling=principal.ceiling.short,
            wanted=wanted.short,
        )


def path_taken(path: str) -> Conflict:
    """The error for a path that a document of somebody else holds, which the caller may see."""
    return Conflict(
        _("{path} belongs to another uploader. Choose another path, or let a curator upload it with replace."),
        code="path_taken",
        path=path,
    )


def check_place(document: Document, wanted: Classification) -> None:
    """Raise Conflict when another document of that classification has the path; the caller may see both."""
    others = Document.objects.filter(collection_id=document.collection_id, path=document.path, classification=wanted)
    if others.exclude(pk=document.pk).exists():
        raise path_taken(document.path)
