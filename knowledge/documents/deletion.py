"""Taking a document away: out of search, or completely.

Deleting takes its rows, what other apps keep of it, answers that show it, and its bytes.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping

from django.db import transaction
from django.db.models import F, Func, IntegerField, Value
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.models import IdempotencyRecord
from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core import bus
from hub.core.errors import Conflict, NotFound
from hub.core.lease import lease_duration
from hub.llm.recordings import forget_answers
from knowledge.documents.documents import changeable_document
from knowledge.ingest.graph import forget_document
from knowledge.ingest.stages import remove_chunks, unindex
from knowledge.models import Chunk, DeletionReceipt, Document, DocumentStatus, Figure, PendingBytes
from knowledge.models.documents import IN_WORK
from knowledge.storage import StorageUnavailable, delete_bytes, lock_bytes, remove_pending_bytes, remove_unused_blobs

logger = logging.getLogger(__name__)

Eraser = Callable[[Document], Mapping[str, int]]
_erasers: list[Eraser] = []


def erase_with(eraser: Eraser) -> None:
    """Have ``eraser`` called for each document that is deleted, in the same transaction and before its rows go.

    It erases what its app keeps of the document's text, and gives the counts that the receipt states. This is how
    apps above this one take part without being known here.
    """
    if eraser not in _erasers:
        _erasers.append(eraser)


def delete_document(*, principal: Principal, document_id: str) -> DeletionReceipt:
    """Delete a document with all that is kept of it; bytes that nobody else uses go after the commit.

    Raises NotFound, Forbidden, and Conflict while a legal hold is on it.
    """
    document = changeable_document(principal, document_id)
    _check_hold(document)
    _stop_work(document)
    with transaction.atomic():
        for sha256 in sorted(_content_hashes(document)):
            lock_bytes(sha256)  # before the document, as an upload does
        locked = Document.objects.select_for_update(of=["self"]).filter(pk=document.pk).first()
        if locked is None:
            raise NotFound(
                _('There is no document "{document_id}".'), code="document_not_found", document_id=document_id
            )
        _check_hold(locked)
        receipt = remove_document(principal, locked)
        record_event(
            principal=principal, action="DOCUMENT_DELETE", resource=f"document:{document_id}", counts=receipt.counts
        )
    bus.publish(f"document:{document_id}", {"document_id": document_id, "status": "deleted"})
    return receipt


def _check_hold(document: Document) -> None:
    if document.legal_hold:
        raise Conflict(
            _("{path} is under a legal hold ({reason}) and can't be deleted. A curator may lift the hold first."),
            code="legal_hold",
            path=document.path,
            reason=document.legal_hold,
        )


def _stop_work(document: Document) -> None:
    """Take the lease from whoever works on the document, and let nobody take it for half a minute.

    Workers lock rows in another order than deletion does; called before its transaction, neither waits for the other.
    """
    document.versions.filter(status__in=IN_WORK).update(lease_token="", lease_expires_at=Now() + lease_duration())


def _content_hashes(document: Document) -> set[str]:
    """The names of all bytes that the document has: its files' and its figures'."""
    files = document.versions.values_list("blob_id", flat=True)
    figures = Figure.objects.filter(version__document=document).values_list("blob_id", flat=True)
    return {*files, *figures}


def remove_document(principal: Principal, document: Document) -> DeletionReceipt:
    """Remove a locked document inside the caller's transaction and write the receipt; unused bytes go after it."""
    hashes = sorted(_content_hashes(document))
    for sha256 in hashes:
        lock_bytes(sha256)
    counts: Counter[str] = Counter()
    for eraser in _erasers:
        counts.update(eraser(document))
    counts["graph"] = forget_document(document)
    counts["figures"] = Figure.objects.filter(version__document=document).count()
    versions = list(document.versions.all())
    chunks = sum(remove_chunks(version) for version in versions)
    _forget_answers(document.public_id)
    forget_answers(document.public_id)
    document_id, collection = document.public_id, document.collection
    document.delete()
    blobs = remove_unused_blobs(hashes, delete=_delete_bytes_or_log)
    return DeletionReceipt.objects.create(
        document_id=document_id,
        collection_slug=collection.slug,
        collection_key=collection.pk,
        classification=document.classification,
        counts={"versions": len(versions), "chunks": chunks, "blobs": blobs, **+counts},
        principal=principal.name,
    )


def _forget_answers(document_id: str) -> None:
    """Forget kept answers to writes (Idempotency-Key) that show the document: a repeat must not show it again."""
    place = Func(
        Value(document_id.encode()),
        F("body"),
        template="position(%(expressions)s)",
        arg_joiner=" IN ",
        output_field=IntegerField(),
    )
    IdempotencyRecord.objects.annotate(place=place).filter(place__gt=0).delete()


def _delete_bytes_or_log(sha256: str) -> None:
    """After the commit the deletion stands: a store that is down now is tried again by ``remove_stray_bytes``."""
    try:
        if not delete_bytes(sha256) and PendingBytes.objects.filter(pk=sha256).exists():
            logger.warning("bytes %s stay: the store belongs to another database; see manage.py doctor", sha256)
    except StorageUnavailable as error:
        logger.warning("bytes %s stay until the store answers: %s", sha256, error)


def remove_stray_bytes() -> int:
    """Remove bytes whose rows are gone, or never came, left where a process died between; gives their number.

    Only what this database noted as its own writing, and only from a store that is its own.
    """
    removal = remove_pending_bytes()
    if removal.kept:
        reason = "there are too many" if removal.is_own_store else "the store belongs to another database"
        logger.error("%d stored files wait to be removed: %s; see manage.py doctor", removal.kept, reason)
    return removal.removed


def retire_document(document: Document) -> None:
    """Take a document whose file is gone out of search; its versions stay until deletion or retention."""
    with transaction.atomic():
        Document.objects.filter(pk=document.pk).update(retired_at=timezone.now())
        # whoever works on it now loses the lease here, and could otherwise index it again
        document.versions.filter(status__in=IN_WORK).update(
            status=DocumentStatus.RETIRED, lease_token="", lease_expires_at=None
        )
        chunks = Chunk.objects.filter(version__document=document, vectors__isnull=False)
        unindex(list(chunks.values_list("pk", flat=True).distinct()))
        forget_document(document)
    bus.publish(f"document:{document.public_id}", {"document_id": document.public_id, "status": "retired"})
