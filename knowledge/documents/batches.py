"""Files that came in together: how far each is, trying those that failed again, taking all of them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.db.models import Case, Count, OuterRef, QuerySet, Subquery, When
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict, HubError, NotFound
from knowledge.documents.deletion import delete_document
from knowledge.documents.documents import DoneToEach, changeable_document
from knowledge.documents.reindexing import MOST_AT_ONCE, retry_documents, start_version_like
from knowledge.documents.source_schemas import TAKEN_BACK
from knowledge.documents.sources import get_source, update_source
from knowledge.models import Document, DocumentStatus, DocumentType, DocumentVersion, Source, UploadBatch
from knowledge.models.documents import IN_WORK

MOST_UNDONE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What became of the documents of a batch that was taken back, by their paths.

    ``left`` are more than are taken back at once: ask again.
    """

    deleted: tuple[str, ...]
    restored: tuple[str, ...]
    refused: tuple[tuple[str, HubError], ...]
    left: int


def batch_documents(principal: Principal, name: str) -> QuerySet[Document]:
    """The documents of the caller's batch that they may read, in the order of the uploads, with what rows need.

    :raises NotFound: the caller has no batch of this name.
    """
    principal.require(Scope.READ)
    return _documents(principal, _find(principal, name))


def _documents(principal: Principal, batch: UploadBatch) -> QuerySet[Document]:
    newest = DocumentVersion.objects.filter(document=OuterRef("pk"), batch=batch).order_by("-number")
    return (
        Document.objects.visible_to(principal)
        .select_related("collection", "document_type", "latest_version__blob")
        .annotate(batch_version=Subquery(newest.values("number")[:1]))
        .filter(batch_version__isnull=False)
        .order_by("pk")
    )


def batch_counts(principal: Principal, name: str) -> dict[str, int]:
    """How many documents of a batch are in_work, ready, needs_ocr, failed and retired. Two queries. Errors as above."""
    states = batch_documents(principal, name).order_by().values_list("latest_version__status").annotate(Count("pk"))
    counts = {"in_work": 0, **{status.value: 0 for status in DocumentStatus if status not in IN_WORK}}
    for status, number in states:
        counts["in_work" if status in IN_WORK else status] += number
    return counts


def retry_batch(principal: Principal, name: str) -> DoneToEach:
    """Work on the failed documents of a batch again, MOST_AT_ONCE at most. Errors as above; refusals are told."""
    failed = batch_documents(principal, name).filter(latest_version__status=DocumentStatus.FAILED)
    ids: Sequence[str] = list(failed.values_list("public_id", flat=True)[:MOST_AT_ONCE])
    return retry_documents(principal=principal, document_ids=ids)


def undo_batch(principal: Principal, name: str) -> Undone:
    """Take a batch back: documents that it made are deleted, others get the content of before as a new version.

    What somebody uploaded since stays and is refused, as is what the caller may not delete. A second call does what
    the first one left. :raises NotFound: the caller has no batch of this name.
    """
    principal.require(Scope.READ)
    return _undo(principal, _find(principal, name))


def undo_scan(principal: Principal, source: str, *, scan: str) -> Undone:
    """Take back what the last scan of a source that took something in took in, and watch the source no longer: the next
    scan would take it in again. What the scan retired stays retired. ``scan`` is the batch of the scan that is meant.

    What becomes of each document is as for :func:`undo_batch`, by the caller's own rights.

    :raises NotFound: there is no such source that the caller curates, or no scan of it took anything in.
    :raises Forbidden: the caller does not say what is watched.
    :raises Conflict: another scan than the one that was seen is by now the last that took something in.
    """
    found = get_source(principal, source)
    principal.require_hub(HubRight.OPERATION)
    with transaction.atomic():
        last = Source.objects.select_for_update().get(pk=found.pk)
        check_last_scan(last, scan)
        batch = UploadBatch.objects.filter(owner=None, name=scan).first()
        if batch is None:
            raise NotFound(
                _('No scan of "{name}" took anything in that could be taken back.'), code="batch_not_found", name=source
            )
        update_source(principal=principal, name=source, enabled=False)
    undone = _undo(principal, batch)
    if undone.left:
        return undone
    with transaction.atomic():  # it may have been switched on and scanned meanwhile
        for last in Source.objects.select_for_update().filter(pk=found.pk, report__undo__batch=batch.name):
            last.report["undo"]["taken_back"] = True
            if last.report.get("batch") == batch.name:
                last.report["state"] = TAKEN_BACK
            last.save(update_fields=["report"])
    return undone


def scan_batch(source: Source) -> str:
    """The name of the batch of a source's last scan that took something in, taken back or not; empty when none did."""
    return str(source.report.get("undo", {}).get("batch", ""))


def check_last_scan(source: Source, scan: str) -> None:
    """Raise Conflict if the source's last scan that took something in is not the one of the batch ``scan``."""
    if scan_batch(source) != scan:
        raise Conflict(
            _('"{name}" was scanned again meanwhile. Look at what that scan took in before you take it back.'),
            code="scanned_meanwhile",
            name=source.name,
        )


def _undo(principal: Principal, batch: UploadBatch) -> Undone:
    documents = _documents(principal, batch)
    is_newest = Case(When(latest_version__batch=batch, then=0), default=1)
    found = list(documents.order_by(is_newest, "pk")[:MOST_UNDONE])
    deleted, restored, refused = [], [], []
    for document in found:
        try:
            if document.versions.exclude(batch=batch).exists():
                if _restore(principal, document, batch):
                    restored.append(document.path)
            else:
                delete_document(principal=principal, document_id=document.public_id, check=partial(_check_own, batch))
                deleted.append(document.path)
        except HubError as error:
            refused.append((document.path, error))
    record_event(principal, "BATCH_UNDO", f"batch:{batch.name}", deleted=len(deleted), restored=len(restored))
    left = documents.filter(latest_version__batch=batch).count() - len(refused) if len(found) == MOST_UNDONE else 0
    return Undone(deleted=tuple(deleted), restored=tuple(restored), refused=tuple(refused), left=max(left, 0))


def _restore(principal: Principal, document: Document, batch: UploadBatch) -> bool:
    """Make the last version from before the batch the newest again, with the type and the title of the document then.

    What somebody chose since stays. Returns whether there was anything to do.
    """
    changeable_document(principal, document.public_id)
    with transaction.atomic():
        locked = Document.objects.select_for_update(of=["self"]).select_related("latest_version").get(pk=document.pk)
        versions = locked.versions.order_by("-number").select_related("blob")
        first = locked.versions.filter(batch=batch).order_by("number").first()
        before = versions.filter(number__lt=first.number).first() if first else None
        if locked.latest_version is None:
            return False
        if before is None:
            raise _later_version(locked)
        if locked.latest_version.batch_id != batch.pk:
            if locked.latest_version.blob_id == before.blob_id:
                return False  # it was taken back already
            raise _later_version(locked)
        for version in versions.filter(batch=batch):
            _give_back(locked, version)
        start_version_like(locked, before)
        record_event(principal, "DOCUMENT_RESTORE", f"document:{locked.public_id}", version=before.number)
    return True


def _give_back(document: Document, version: DocumentVersion) -> None:
    """Give a locked document the type and title back that a version's upload changed, as far as it still has its."""
    kind = DocumentType.objects.filter(code=version.type_before).first()
    if kind is not None and document.document_type_id == version.type_given:
        document.document_type = kind
    if version.title_before and document.title == version.title_given:
        document.title = version.title_before
    document.save(update_fields=["document_type", "title"])


def _check_own(batch: UploadBatch, document: Document) -> None:
    """Raise Conflict for a locked document that somebody has uploaded another version of."""
    if document.versions.exclude(batch=batch).exists():
        raise _later_version(document)


def _later_version(document: Document) -> Conflict:
    return Conflict(_("{path} has a later version, which stays."), code="later_version", path=document.path)


def _find(principal: Principal, name: str) -> UploadBatch:
    batch = UploadBatch.objects.filter(owner_id=principal.user_id, name=name).first()
    if batch is None:
        raise NotFound(_("There is no such batch of uploads."), code="batch_not_found")
    return batch
