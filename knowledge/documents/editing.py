"""Changing what is said of a document: title, type, metadata, classification, legal hold."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal
from hub.access.services import record_event
from hub.core.bounds import check_row
from hub.core.errors import Forbidden, InvalidInput
from knowledge.documents.documents import (
    changeable_document,
    check_ceiling,
    check_document_type,
    check_place,
    curates,
    document_not_found,
    get_document,
)
from knowledge.graph.contribute import reclassify_document
from knowledge.index.postings import write_postings
from knowledge.models import Chunk, Document, TypeGuess

LONGEST_TITLE = 500
LONGEST_REASON = 300


class DocumentChanges(TypedDict, total=False):
    """What may change of a document; what is left out stays. An empty ``legal_hold`` lifts the hold."""

    title: str
    document_type: str
    metadata: dict[str, Any]
    classification: Classification
    legal_hold: str


def update_document(*, principal: Principal, document_id: str, **changes: Unpack[DocumentChanges]) -> Document:
    """Change what is said of a document; search knows a new title at once.

    Raises NotFound, Forbidden, InvalidInput. All of it is checked before anything is changed.
    """
    rest = {name: value for name, value in changes.items() if name != "legal_hold"}
    document = changeable_document(principal, document_id) if rest else get_document(principal, document_id)
    values = _checked(principal, changes)
    with transaction.atomic():
        if "legal_hold" in changes:
            set_legal_hold(principal=principal, document_id=document_id, reason=changes["legal_hold"])
        if "classification" in values:
            check_place(document, values["classification"])
        if values:
            Document.objects.filter(pk=document.pk).update(**values, updated_at=timezone.now())
            record_event(
                principal, "DOCUMENT_CHANGE", f"document:{document_id}", changed=sorted(values.keys() - {"type_guess"})
            )
        if "classification" in values:
            document.classification = values["classification"]
            reclassify_document(document)  # no door waits for a worker to hide what is confidential now
        if "title" in values:  # it counts as text of each chunk, so those that search sees are indexed again
            chunks = Chunk.objects.filter(version_id=document.current_version_id, lexical_entry__isnull=False)
            if indexed := list(chunks.order_by("pk")):
                write_postings(indexed, title=values["title"], path=document.path)
    return get_document(principal, document_id)


def _checked(principal: Principal, changes: DocumentChanges) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if "title" in changes:
        values["title"] = _line(changes["title"], field="title", limit=LONGEST_TITLE)
    if "document_type" in changes:
        check_document_type(changes["document_type"] or "-")
        values["document_type_id"] = changes["document_type"]
        values["type_guess"] = TypeGuess.NONE  # somebody has told it
    if "classification" in changes:
        check_ceiling(principal, changes["classification"])
        values["classification"] = changes["classification"]
    if "metadata" in changes:
        values["metadata"] = changes["metadata"]
    check_row(Document(**values), only=values)
    return values


def _line(text: str, *, field: str, limit: int) -> str:
    cleaned = text.strip()
    if not cleaned or len(cleaned) > limit:
        raise InvalidInput(_("{field}: give 1 to {limit} characters."), field=field, limit=limit)
    return cleaned


def set_legal_hold(*, principal: Principal, document_id: str, reason: str) -> Document:
    """Keep a document from being deleted by people and by retention, for a reason; an empty reason lifts the hold.

    Needs curate in the collection. The time of the last change stays, so that a hold does not renew the retention
    period. Raises NotFound, Forbidden, InvalidInput.
    """
    document = get_document(principal, document_id)
    if not curates(principal, document):
        raise Forbidden(_("Only a curator of the collection may set or lift a legal hold."))
    wanted = _line(reason, field="legal_hold", limit=LONGEST_REASON) if reason.strip() else ""
    with transaction.atomic():
        locked = Document.objects.select_for_update(of=["self"]).filter(pk=document.pk).first()
        if locked is None:
            raise document_not_found(document_id)
        if locked.legal_hold != wanted:
            Document.objects.filter(pk=document.pk).update(legal_hold=wanted)
            record_event(
                principal,
                "LEGAL_HOLD_SET" if wanted else "LEGAL_HOLD_LIFT",
                f"document:{document_id}",
                reason=wanted or locked.legal_hold,
            )
    document.legal_hold = wanted
    return document
