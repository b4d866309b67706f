"""Taking documents away: out of search, or completely, and by themselves when their collection's period is over.

Deleting takes their rows, what other apps keep of them, answers that show them, and their bytes, and leaves a receipt.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import (
    Count,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Coalesce, Least, Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.models import IdempotencyRecord
from hub.access.principals import Principal, Scope, system_principal
from hub.access.services import record_event
from hub.core import bus
from hub.core.errors import Conflict, NotFound
from hub.core.lease import lease_duration
from hub.core.scheduled_rows import FAILURES_AT_MOST, keep_failures, try_each_row
from hub.llm.recordings import forget_answers
from knowledge.documents.documents import changeable_document, document_not_found
from knowledge.extensions import ERASERS
from knowledge.ingest.graph import forget_document
from knowledge.ingest.stages import remove_chunks, unindex
from knowledge.models import Chunk, Collection, DeletionReceipt, Document, DocumentStatus, Figure, PendingBytes
from knowledge.models.collections import RETENTION_DAYS
from knowledge.models.documents import IN_WORK
from knowledge.storage import (
    StorageUnavailable,
    delete_bytes,
    get_blob_store,
    lock_bytes,
    remove_pending_bytes,
    remove_unused_blobs,
)

logger = logging.getLogger(__name__)


def delete_document(
    *, principal: Principal, document_id: str, check: Callable[[Document], None] | None = None
) -> DeletionReceipt:
    """Delete a document with all that is kept of it; bytes that nobody else uses go after the commit.

    ``check`` is called with the locked document, and what it raises keeps it. Raises NotFound, Forbidden, and Conflict
    while a legal hold is on it.
    """
    document = changeable_document(principal, document_id)
    _check_hold(document)
    # Workers lock rows in another order than deletion does: they lose the lease before its transaction, and nobody
    # takes it for half a minute, so that neither waits for the other.
    document.versions.filter(status__in=IN_WORK).update(lease_token="", lease_expires_at=Now() + lease_duration())
    with transaction.atomic():
        for sha256 in sorted(_content_hashes(document)):
            lock_bytes(sha256)  # before the document, as an upload does
        locked = Document.objects.select_for_update(of=["self"]).filter(pk=document.pk).first()
        if locked is None:
            raise document_not_found(document_id)
        _check_hold(locked)
        if check is not None:
            check(locked)
        receipt = remove_document(principal, locked)
        record_event(principal, "DOCUMENT_DELETE", f"document:{document_id}", counts=receipt.counts)
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
    for eraser in ERASERS:
        counts.update(eraser(document))
    counts["graph"] = forget_document(document)
    counts["figures"] = Figure.objects.filter(version__document=document).count()
    versions = list(document.versions.all())
    chunks = sum(remove_chunks(version) for version in versions)
    _forget_answers(document.public_id)
    forget_answers(document.public_id)
    document_id, collection = document.public_id, document.collection
    document.delete()
    removed = remove_unused_blobs(hashes, delete=_delete_bytes_or_log)
    plainly = "overwritten" if get_blob_store().overwrites else "only_removed"
    blobs = {"keys_destroyed": removed.keys_destroyed, plainly: removed.count - removed.keys_destroyed}
    return DeletionReceipt.objects.create(
        document_id=document_id,
        collection_slug=collection.slug,
        collection_key=collection.pk,
        classification=document.classification,
        counts={"versions": len(versions), "chunks": chunks, "blobs": removed.count, **+Counter(blobs), **+counts},
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
    """After the commit the deletion is final: a store that is down now is tried again by ``remove_stray_bytes``."""
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
        # a worker loses its lease here, and could otherwise index it again
        document.versions.filter(status__in=IN_WORK).update(
            status=DocumentStatus.RETIRED, lease_token="", lease_expires_at=None
        )
        chunks = Chunk.objects.filter(version__document=document, vectors__isnull=False)
        unindex(list(chunks.values_list("pk", flat=True).distinct()))
        forget_document(document)
    bus.publish(f"document:{document.public_id}", {"document_id": document.public_id, "status": "retired"})


BATCH = 100
TASK = "knowledge.enforce_retention"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPreview:
    """What enforcing a collection's retention would do now; ``days`` is None where documents are kept for ever."""

    collection: Collection
    days: int | None
    due: int
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Enforced:
    """What a run did: how many documents went, and the names of the documents and collections at which it failed."""

    deleted: int
    failed: tuple[str, ...]


def retention_days(collection: Collection) -> int | None:
    """The days after which a collection's documents are deleted: its own, else RETENTION_DAYS, else None for never."""
    return collection.retention_days or settings.CONFIG.retention_days


def expired_documents() -> QuerySet[Document]:
    """Documents, retired ones too, whose last upload or change is longer ago than their collection keeps them."""
    default: int | None = settings.CONFIG.retention_days
    documents = Document.objects.all()
    if default is None:
        documents = documents.filter(collection__retention_days__isnull=False)
    # A longer period than the longest means never, too; PostgreSQL has no day that long ago.
    days = Least(Coalesce(F("collection__retention_days"), Value(default or 0)), Value(RETENTION_DAYS.most))
    kept = ExpressionWrapper(days * Value(timedelta(days=1)), output_field=DurationField())
    return documents.filter(updated_at__lt=Now() - kept)


def preview_retention(principal: Principal) -> list[RetentionPreview]:
    """Count, for each collection the caller may read, what the next enforcement deletes and what legal hold keeps.

    Documents above the caller's ceiling are not counted.
    """
    principal.require(Scope.READ)
    counts = (
        expired_documents()
        .filter(classification__lte=principal.ceiling)
        .values("collection_id")
        .annotate(due=Count("pk", filter=Q(legal_hold="")), held=Count("pk", filter=~Q(legal_hold="")))
    )
    by_collection = {row["collection_id"]: row for row in counts.order_by("collection_id")}
    nothing = {"due": 0, "held": 0}
    return [
        RetentionPreview(
            collection=collection,
            days=retention_days(collection),
            due=by_collection.get(collection.pk, nothing)["due"],
            held=by_collection.get(collection.pk, nothing)["held"],
        )
        for collection in Collection.objects.visible_to(principal).order_by("slug")
    ]


def due_documents(principal: Principal) -> QuerySet[Document]:
    """List the expired documents that the caller may read, those under a legal hold too, the longest unchanged first.

    Their collections come with them. One query.
    """
    principal.require(Scope.READ)
    visible = Document.objects.visible_to(principal).values("pk")
    return expired_documents().filter(pk__in=visible).select_related("collection").order_by("updated_at", "pk")


def enforce_retention(limit: int = BATCH) -> Enforced:
    """Delete up to ``limit`` expired documents, each with its receipt: those of a collection oldest first.

    What fails at one document or collection is logged and kept for the alerts, and the others have their turn.
    """
    due = Collection.objects.filter(Exists(_deletable().filter(collection=OuterRef("pk"))))
    work = _Enforcement(limit)
    outcome = try_each_row(TASK, due.order_by("pk"), work.delete_due, name=lambda collection: collection.slug)
    failed = (*outcome.failed, *(document for documents in outcome.done for document in documents))
    keep_failures(TASK, failed)
    return Enforced(deleted=work.deleted, failed=failed)


def _deletable() -> QuerySet[Document]:
    return expired_documents().filter(legal_hold="")


class _Enforcement:
    """One run, which ends when ``limit`` documents are deleted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._principal = system_principal("retention")
        self.deleted = 0

    def delete_due(self, collection: Collection) -> tuple[str, ...]:
        """Delete a collection's expired documents, oldest first; gives the names of those at which that failed."""
        outcome = try_each_row(
            TASK, self._due_in(collection), self._delete, name=lambda document_id: f"{collection.slug}/{document_id}"
        )
        return outcome.failed

    def _due_in(self, collection: Collection) -> Iterator[str]:
        ids = _deletable().filter(collection=collection).order_by("updated_at").values_list("public_id", flat=True)
        for document_id in list(ids[: self._limit + FAILURES_AT_MOST]):
            if self.deleted >= self._limit:
                return
            yield document_id

    def _delete(self, document_id: str) -> None:
        try:
            delete_document(principal=self._principal, document_id=document_id)
        except (NotFound, Conflict) as error:
            logger.info("retention leaves document %s: %s", document_id, error.error_code)
            return
        self.deleted += 1
