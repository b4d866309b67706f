"""Retention: documents that nobody renewed for as long as their collection keeps them are deleted, with receipts."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, DurationField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Least, Now

from hub.access.principals import Principal, Scope, system_principal
from hub.core.errors import Conflict, NotFound
from hub.core.scheduled_rows import FAILURES_AT_MOST, keep_failures, try_each_row
from knowledge.documents.deletion import delete_document
from knowledge.models import Collection, Document
from knowledge.models.collections import RETENTION_DAYS

logger = logging.getLogger(__name__)

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
