"""Working on documents again: from the start, cut otherwise, or many that failed."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import Conflict
from knowledge.collections import get_collection
from knowledge.documents.documents import DoneToEach, changeable_document, chunk_policy, do_to_each
from knowledge.documents.reading import list_documents
from knowledge.ingest import pipeline
from knowledge.ingest.page_readings import engine_name
from knowledge.models import Blob, Document, DocumentStatus, DocumentVersion, UploadBatch, VersionContent
from knowledge.types.chunks import ChunkOptions


def reindex_document(*, principal: Principal, document_id: str, chunk_options: ChunkOptions | None = None) -> Document:
    """Work on the latest version again from the start; what search sees stays until that is done.

    Where nobody has chosen how this document is cut, it is cut as its collection says now.

    Raises NotFound, Forbidden, and Conflict for a retired document: nothing of it may come back by this way.
    """
    document = changeable_document(principal, document_id)
    if document.retired_at is not None:
        raise Conflict(
            _("{path} is retired: its file is gone from where it came. Upload it again to bring it back."),
            code="document_retired",
            path=document.path,
        )
    if document.latest_version is None:
        raise Conflict(_("{path} has no version to work on."), path=document.path)
    with transaction.atomic():
        if not chunk_options and _recut_as_collection(document):
            record_event(principal, "DOCUMENT_REINDEX", f"document:{document.public_id}")
            return changeable_document(principal, document_id)
        if chunk_options:
            policy = chunk_policy(chunk_options)
            DocumentVersion.objects.filter(pk=document.latest_version.pk).update(policy=policy, has_own_policy=True)
            Document.objects.filter(pk=document.pk).update(chosen_policy=policy)
        work_again(document)
        record_event(principal, "DOCUMENT_REINDEX", f"document:{document.public_id}")
    document.latest_version.refresh_from_db()
    return document


def _recut_as_collection(document: Document) -> bool:
    """Make a version that is cut as the collection says, where the latest is not and nobody chose; say if it was made.

    Documents of folders and watched sources follow those.
    """
    if document.chosen_policy_id is not None or document.source_root:
        return False
    policy = document.collection.policy
    return recut_document(document_pk=document.pk, chunk_options=policy.options() if policy else None) is not None


def work_again(document: Document) -> None:
    """Set the latest version, if there is one, back to its first stage, and queue it."""
    if document.latest_version_id is None:
        return
    pipeline.reset(document.latest_version_id)
    pipeline.queue_on_commit(document.latest_version_id)


def recut_document(*, document_pk: int, chunk_options: ChunkOptions | None) -> Document | None:
    """Make a version of the same bytes that is cut otherwise; search keeps the old one until the new one is ready. One
    whose text could never be read is worked on again instead.

    None for ``chunk_options`` is the active embedding set's way. Gives None when the document is gone, or is cut so.
    """
    policy = chunk_policy(chunk_options)
    with transaction.atomic():
        document = Document.objects.select_for_update(of=["self"]).filter(pk=document_pk).first()
        latest = document.latest_version if document else None
        has_own = chunk_options is not None
        if document is None or latest is None:
            return None
        if latest.policy_id == policy.pk if has_own else not latest.has_own_policy:  # it is cut so
            return None
        if not VersionContent.objects.filter(pk=latest.pk).exists():  # nothing of it was cut: it needs no next version
            DocumentVersion.objects.filter(pk=latest.pk).update(policy=policy, has_own_policy=has_own)
            work_again(document)
            return document
        latest.policy_id, latest.has_own_policy = policy.pk, has_own
        start_version_like(document, latest)
    return document


def start_version_like(document: Document, before: DocumentVersion) -> None:
    """Give a locked document a next version of the bytes of an earlier one, cut and anonymised as that says."""
    start_version(
        document,
        before.blob,
        before.filename,
        policy_id=before.policy_id,
        has_own_policy=before.has_own_policy,
        anonymised=before.anonymised,
        asked_anonymising=before.asked_anonymising,
    )


def start_version(
    document: Document,
    blob: Blob,
    filename: str,
    *,
    policy_id: int,
    has_own_policy: bool,
    anonymised: dict[str, int] | None,
    asked_anonymising: dict[str, list[str]] | None,
    batch: UploadBatch | None = None,
    type_before: str = "",
    title_before: str = "",
) -> None:
    """Give a locked document its next version, which is worked on once the transaction has committed.

    ``type_before`` and ``title_before`` are the document's of before it came in, where it has others now.
    """
    latest = document.latest_version
    document.latest_version = DocumentVersion.objects.create(
        document=document,
        number=latest.number + 1 if latest else 1,
        blob=blob,
        filename=filename,
        policy_id=policy_id,
        has_own_policy=has_own_policy,
        batch=batch,
        anonymised=anonymised,
        asked_anonymising=asked_anonymising,
        type_before=type_before,
        type_given=(document.document_type_id or "") if type_before else "",
        title_before=title_before,
        title_given=document.title if title_before else "",
    )
    document.save(update_fields=["latest_version", "updated_at"])
    pipeline.queue_on_commit(document.latest_version.pk)


MOST_AT_ONCE = 200


def retry_documents(*, principal: Principal, document_ids: Sequence[str]) -> DoneToEach:
    """Work on each document's latest version again; one that is refused does not keep the others from it."""
    return do_to_each(document_ids, lambda one: reindex_document(principal=principal, document_id=one))


def retry_failed(*, principal: Principal, collection: str) -> DoneToEach:
    """Work again on the failed documents of a collection, the oldest first, MOST_AT_ONCE at most. Raises NotFound."""
    return _retry_all(principal, collection, DocumentStatus.FAILED)


def retry_unread(*, principal: Principal, collection: str) -> DoneToEach:
    """Work again on a collection's documents that need OCR, after it was installed; otherwise as `retry_failed`.

    :raises Conflict: OCR is switched off or not installed. :raises NotFound: no such collection.
    """
    if engine_name() is None:
        raise Conflict(
            _("OCR is not installed or is switched off: see HUB_OCR_ENGINE and docs/operations.md."),
            code="ocr_unavailable",
        )
    return _retry_all(principal, collection, DocumentStatus.NEEDS_OCR)


def _retry_all(principal: Principal, collection: str, status: DocumentStatus) -> DoneToEach:
    get_collection(principal, collection)
    found = list_documents(principal, collection=collection, status=status).order_by("pk")
    ids = list(found.values_list("public_id", flat=True)[:MOST_AT_ONCE])
    return retry_documents(principal=principal, document_ids=ids)


def cancel_reading(*, principal: Principal, document_id: str) -> Document:
    """Stop reading a document with OCR after the page that is being read; it goes on with what was read.

    :raises NotFound: Forbidden: as `reindex_document`. :raises Conflict: it is not being read.
    """
    document = changeable_document(principal, document_id)
    version = document.latest_version
    with transaction.atomic():
        being_read = DocumentVersion.objects.filter(pk=version.pk if version else 0, status=DocumentStatus.READING)
        if not being_read.update(ocr_cancelled=True):
            raise Conflict(_("{path} is not being read with OCR."), code="not_being_read", path=document.path)
        record_event(principal, "DOCUMENT_OCR_CANCEL", f"document:{document.public_id}")
    return changeable_document(principal, document_id)
