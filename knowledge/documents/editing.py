"""Changing what is said of a document: title, type, metadata, classification, collection, legal hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.access.services import record_event
from hub.core.bounds import check_row
from hub.core.errors import Conflict, Forbidden, InvalidInput
from hub.core.strict_json import read_json
from knowledge.collections import get_collection
from knowledge.documents.documents import (
    DoneToEach,
    changeable_document,
    check_ceiling,
    check_document_type,
    check_place,
    curates,
    do_to_each,
    document_not_found,
    get_document,
)
from knowledge.documents.history import keep_written
from knowledge.graph.contribute import reclassify_document
from knowledge.index.changes import note_tagged
from knowledge.index.postings import write_postings
from knowledge.ingest.graph import forget_document
from knowledge.models import Chunk, Document, TypeGuess
from knowledge.text.folding import one_line

LONGEST_TITLE = 500
LONGEST_REASON = 300


class DocumentChanges(TypedDict, total=False):
    """What may change of a document; what is left out stays. An empty ``legal_hold`` lifts the hold."""

    title: str
    document_type: str
    metadata: dict[str, Any]
    classification: Classification
    collection: str
    legal_hold: str


def read_metadata(text: str) -> dict[str, Any]:
    """Read metadata as people and programs write them; none from a blank text.

    :raises InvalidInput: they are no JSON object, with the position where that is known.
    """
    if not text.strip():
        return {}
    try:
        value = read_json(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            _("metadata is not JSON: {reason} at character {position}."),
            field="metadata",
            reason=error.msg,
            position=error.pos,
        ) from error
    except ValueError as error:
        raise InvalidInput(_("metadata is not JSON: {reason}."), field="metadata", reason=str(error)) from error
    if not isinstance(value, dict):
        raise InvalidInput(_("metadata must be a JSON object such as {example}."), field="metadata", example='{"a": 1}')
    return value


def update_document(*, principal: Principal, document_id: str, **changes: Unpack[DocumentChanges]) -> Document:
    """Change what is said of a document; search knows a new title at once.

    Another ``collection`` is one that the caller may upload to; what the document told the graph of the old one goes,
    and it is read again for that of the new one. Raises NotFound, Forbidden, InvalidInput, and Conflict for a place
    that is taken and for moving what comes from a watched source. All of it is checked before anything is changed.
    """
    rest = {name: value for name, value in changes.items() if name != "legal_hold"}
    document = changeable_document(principal, document_id) if rest else get_document(principal, document_id)
    values = _checked(principal, changes)
    told: dict[str, object] = _before_and_after(document, values)
    if values.get("collection_id") == document.collection_id:
        del values["collection_id"]
    elif "collection_id" in values and document.source_root:
        raise Conflict(
            _("{path} comes from a watched source, which would bring it back. Change the source's collection."),
            code="document_of_source",
            path=document.path,
        )
    with transaction.atomic():
        if "legal_hold" in changes:
            set_legal_hold(principal=principal, document_id=document_id, reason=changes["legal_hold"])
        if "classification" in values or "collection_id" in values:
            place = Document(pk=document.pk, path=document.path, collection_id=document.collection_id)
            place.collection_id = values.get("collection_id", document.collection_id)
            check_place(place, values.get("classification", Classification(document.classification)))
        if "collection_id" in values:
            forget_document(Document.objects.select_for_update(of=["self"]).get(pk=document.pk))
        if values:
            Document.objects.filter(pk=document.pk).update(**values, updated_at=timezone.now())
            changed = sorted(values.keys() - {"type_guess"})
            told |= keep_written(document, values)
            record_event(principal, "DOCUMENT_CHANGE", f"document:{document_id}", changed=changed, **told)
        if "classification" in values or "collection_id" in values:
            note_tagged(document.pk)
        if "classification" in values and "collection_id" not in values:
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
    if "collection" in changes:
        values["collection_id"] = get_collection(principal, changes["collection"], scope=Scope.UPLOAD).pk
    check_row(Document(**values), only=values)
    return values


def _before_and_after(document: Document, values: dict[str, Any]) -> dict[str, object]:
    """What the audit trail keeps of a change beside the names of the fields: nothing that people wrote."""
    kept = {"document_type_id": "document_type", "classification": "classification", "collection_id": "collection"}
    return {
        name: [getattr(document, column), values[column]]
        for column, name in kept.items()
        if column in values and getattr(document, column) != values[column]
    }


def update_documents(
    *, principal: Principal, document_ids: Sequence[str], **changes: Unpack[DocumentChanges]
) -> DoneToEach:
    """Change several documents alike; one that is refused does not keep the others from it."""
    return do_to_each(document_ids, lambda one: update_document(principal=principal, document_id=one, **changes))


def facts_digest(document: Document) -> str:
    """Name what is said of a document now: another digest, and somebody has changed it since."""
    said = [document.title, document.document_type_id, document.classification, document.collection_id]
    text = json.dumps([*said, document.metadata], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _line(text: str, *, field: str, limit: int) -> str:
    cleaned = one_line(text)
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
