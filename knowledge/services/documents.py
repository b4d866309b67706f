"""Taking documents in, working on them again, retiring and deleting them."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.access.services import record_event
from hub.core import bus
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from hub.core.queue import enqueue_on_commit
from knowledge.backends.blob_locks import lock_bytes
from knowledge.backends.storage import get_blob_store
from knowledge.ingest import pipeline
from knowledge.ingest.graph import forget_document
from knowledge.ingest.stages import unindex
from knowledge.models import (
    Blob,
    Chunk,
    ChunkPolicy,
    Collection,
    DeletionReceipt,
    Document,
    DocumentStatus,
    DocumentType,
    DocumentVersion,
)
from knowledge.models.documents import IN_WORK
from knowledge.services.collections import DEFAULT_COLLECTION, get_collection
from knowledge.services.deletion import content_hashes, remove_document, stop_work
from knowledge.services.policies import chunk_policy
from knowledge.tasks import advance_version
from knowledge.types.chunks import ChunkOptions

MAX_PATH = 1000
COPY_BLOCK = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that a caller hands in: ``file`` is a local path, the rest is what they say of it."""

    file: Path
    filename: str
    sha256: str
    size_bytes: int
    path: str = ""
    collection: str = DEFAULT_COLLECTION
    document_type: str = ""
    title: str = ""
    classification: Classification | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    chunk_options: ChunkOptions | None = None
    replace: bool = False
    source_root: str = ""
    source_stamp: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadOutcome:
    """``outcome`` is created, new_version or unchanged; ``same_content_as`` a visible document with the same bytes."""

    document: Document
    outcome: str
    same_content_as: str | None = None


def hash_file(path: Path) -> tuple[str, int]:
    """sha256 (hex) and size in bytes of a file, read in blocks."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as data:
        while block := data.read(COPY_BLOCK):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def create_document(*, principal: Principal, upload: Upload) -> UploadOutcome:
    """Store an upload and start the work on it once the transaction has committed.

    A path that is new makes a document; known bytes change nothing; other bytes make a new version. Raises
    InvalidInput, NotFound (collection), Conflict (the path belongs to another uploader), StorageUnavailable.
    """
    collection = get_collection(principal, upload.collection, scope=Scope.UPLOAD)
    path = clean_path(upload.path or upload.filename)
    check_document_type(upload.document_type)
    classification = upload.classification or Classification(collection.classification)
    check_ceiling(principal, classification)
    policy = chunk_policy(upload.chunk_options)
    with transaction.atomic():
        lock_bytes(upload.sha256)
        get_blob_store().put(upload.sha256, upload.file)
        blob, _made = Blob.objects.get_or_create(sha256=upload.sha256, defaults={"size_bytes": upload.size_bytes})
        document, is_new = Document.objects.get_or_create(
            collection=collection,
            path=path,
            defaults={
                "title": upload.title or upload.filename,
                "document_type_id": upload.document_type or "other",
                "classification": classification,
                "owner_id": principal.user_id,
                "metadata": upload.metadata,
                "source_root": upload.source_root,
                "source_stamp": upload.source_stamp,
            },
        )
        document = Document.objects.select_for_update().get(pk=document.pk)
        if not is_new:
            _check_owner(principal, document, replace=upload.replace)
        was_retired = document.retired_at is not None
        _apply_changes(document, upload, policy)
        outcome = _add_version(document, blob, upload, policy_id=policy.pk)
        if outcome == "unchanged" and (was_retired or _has_failed(document)):
            _work_again(document)
        record_event(
            principal=principal,
            action="DOCUMENT_UPLOAD",
            resource=f"document:{document.public_id}",
            outcome=outcome,
            collection=collection.slug,
        )
    return UploadOutcome(
        document=document, outcome=outcome, same_content_as=_twin(principal, document, blob) if is_new else None
    )


def clean_path(path: str) -> str:
    """A document path: relative, ``/`` between parts, NFC. Raises InvalidInput saying what is wrong with it."""
    cleaned = unicodedata.normalize("NFC", path.replace("\\", "/")).strip()
    parts = PurePosixPath(cleaned).parts
    bad = not parts or cleaned.startswith("/") or ".." in parts or len(cleaned) > MAX_PATH
    if bad or any(unicodedata.category(char) in {"Cc", "Cs"} for char in cleaned):
        raise InvalidInput(
            _("The path {path!r} can't be used: give a relative path of at most {limit} characters without .. in it."),
            code="invalid_path",
            path=path[:100],
            limit=MAX_PATH,
        )
    return str(PurePosixPath(*parts))


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


def _check_owner(principal: Principal, document: Document, *, replace: bool) -> None:
    may_see = document.classification <= principal.ceiling
    if may_see and document.owner_id == principal.user_id:
        return
    may_replace = Collection.objects.visible_to(principal, Scope.CURATE).filter(pk=document.collection_id).exists()
    if not (may_see and replace and may_replace):
        raise Conflict(
            _("{path} belongs to another uploader. Choose another path, or let a curator upload it with replace."),
            code="path_taken",
            path=document.path,
        )


def _apply_changes(document: Document, upload: Upload, policy: ChunkPolicy) -> None:
    """Take over what the caller says now; what they leave out stays."""
    if upload.document_type:
        document.document_type_id = upload.document_type
    if upload.title:
        document.title = upload.title
    if upload.metadata:
        document.metadata = upload.metadata
    if upload.classification is not None:
        document.classification = upload.classification
    if upload.source_root:
        document.source_root, document.source_stamp = upload.source_root, upload.source_stamp
    elif upload.chunk_options:
        document.chosen_policy = policy
    document.retired_at = None
    document.save()


def _add_version(document: Document, blob: Blob, upload: Upload, *, policy_id: int) -> str:
    latest = document.latest_version
    if latest and latest.blob_id == blob.pk and (upload.chunk_options is None or latest.policy_id == policy_id):
        return "unchanged"
    filename = PurePosixPath(upload.filename.replace("\\", "/")).name[:500]
    _next_version(document, blob, filename, policy_id=policy_id, has_own_policy=upload.chunk_options is not None)
    return "new_version" if latest else "created"


def _next_version(document: Document, blob: Blob, filename: str, *, policy_id: int, has_own_policy: bool) -> None:
    latest = document.latest_version
    document.latest_version = DocumentVersion.objects.create(
        document=document,
        number=latest.number + 1 if latest else 1,
        blob=blob,
        filename=filename,
        policy_id=policy_id,
        has_own_policy=has_own_policy,
    )
    document.save(update_fields=["latest_version", "updated_at"])
    enqueue_on_commit(advance_version, version_id=document.latest_version.pk)


def recut_document(*, document_pk: int, chunk_options: ChunkOptions | None) -> Document | None:
    """Make a version of the same bytes that is cut otherwise; search keeps the old one until the new one is ready.

    None for ``chunk_options`` is the active embedding set's way. Gives None when the document is gone, or is cut so.
    """
    policy = chunk_policy(chunk_options)
    with transaction.atomic():
        document = Document.objects.select_for_update(of=["self"]).filter(pk=document_pk).first()
        latest = document.latest_version if document else None
        if document is None or latest is None or _is_cut_by(latest, policy, chosen=chunk_options is not None):
            return None
        has_own = chunk_options is not None
        _next_version(document, latest.blob, latest.filename, policy_id=policy.pk, has_own_policy=has_own)
    return document


def _is_cut_by(version: DocumentVersion, policy: ChunkPolicy, *, chosen: bool) -> bool:
    return version.policy_id == policy.pk if chosen else not version.has_own_policy


def _has_failed(document: Document) -> bool:
    return document.latest_version is not None and document.latest_version.status == DocumentStatus.FAILED


def _twin(principal: Principal, document: Document, blob: Blob) -> str | None:
    """Another document with the same bytes that the caller may see."""
    visible = Document.objects.visible_to(principal).live().filter(latest_version__blob=blob).exclude(pk=document.pk)
    return visible.order_by("pk").values_list("public_id", flat=True).first()


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


def reindex_document(*, principal: Principal, document_id: str, chunk_options: ChunkOptions | None = None) -> Document:
    """Work on the latest version again from the start; what search sees stays until that is done.

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
        if chunk_options:
            policy = chunk_policy(chunk_options)
            DocumentVersion.objects.filter(pk=document.latest_version.pk).update(policy=policy, has_own_policy=True)
            Document.objects.filter(pk=document.pk).update(chosen_policy=policy)
        _work_again(document)
        record_event(principal=principal, action="DOCUMENT_REINDEX", resource=f"document:{document.public_id}")
    document.latest_version.refresh_from_db()
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


def _work_again(document: Document) -> None:
    if document.latest_version_id is None:
        return
    pipeline.reset(document.latest_version_id)
    enqueue_on_commit(advance_version, version_id=document.latest_version_id)


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


def delete_document(*, principal: Principal, document_id: str) -> DeletionReceipt:
    """Delete a document with all that is kept of it; bytes that nobody else uses go after the commit.

    Raises NotFound, Forbidden, and Conflict while a legal hold is on it.
    """
    document = changeable_document(principal, document_id)
    _check_hold(document)
    stop_work(document)
    with transaction.atomic():
        for sha256 in sorted(content_hashes(document)):
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
