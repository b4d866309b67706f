"""Retention: documents that nobody renewed for as long as their collection keeps them are deleted, with receipts."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Now

from hub.access.principals import Principal, Scope, system_principal
from hub.core.errors import Conflict, NotFound
from knowledge.models import Collection, Document
from knowledge.services.deletion import delete_document

logger = logging.getLogger(__name__)

BATCH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPreview:
    """What enforcing a collection's retention would do now; ``days`` is None where documents are kept for ever."""

    collection: Collection
    days: int | None
    due: int
    held: int


def retention_days(collection: Collection) -> int | None:
    """The days after which a collection's documents are deleted: its own, else RETENTION_DAYS, else None for never."""
    return collection.retention_days or settings.CONFIG.retention_days


def expired_documents() -> QuerySet[Document]:
    """Documents, retired ones too, whose last upload or change is longer ago than their collection keeps them."""
    default: int | None = settings.CONFIG.retention_days
    documents = Document.objects.all()
    if default is None:
        documents = documents.filter(collection__retention_days__isnull=False)
    days = Coalesce(F("collection__retention_days"), Value(default or 0))
    kept = ExpressionWrapper(days * Value(timedelta(days=1)), output_field=DurationField())
    return documents.filter(updated_at__lt=Now() - kept)


def preview_retention(principal: Principal) -> list[RetentionPreview]:
    """Count, for each collection the caller may read, what the next enforcement deletes and what legal hold keeps."""
    principal.require(Scope.READ)
    counts = (
        expired_documents()
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


def enforce_retention(limit: int = BATCH) -> int:
    """Delete up to ``limit`` expired documents, the oldest first, each with its receipt; gives how many went."""
    principal = system_principal("retention")
    due = expired_documents().filter(legal_hold="").order_by("updated_at")
    deleted = 0
    for document_id in list(due.values_list("public_id", flat=True)[:limit]):
        try:
            delete_document(principal=principal, document_id=document_id)
        except (NotFound, Conflict) as error:
            logger.info("retention leaves document %s: %s", document_id, error.error_code)
            continue
        deleted += 1
    return deleted
