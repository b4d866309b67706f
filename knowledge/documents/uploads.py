"""Taking documents in: a file becomes a document, a new version of one, or nothing new."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.access.services import record_event
from hub.core.bounds import check_row
from hub.core.errors import InvalidInput
from knowledge.collections.collections import DEFAULT_COLLECTION, get_collection
from knowledge.documents.documents import check_ceiling, check_document_type, check_place, path_taken
from knowledge.documents.policies import chunk_policy
from knowledge.documents.reindexing import start_version, work_again
from knowledge.graph.contribute import reclassify_document
from knowledge.models import Blob, ChunkPolicy, Collection, Document, DocumentStatus
from knowledge.storage import expect_bytes, get_blob_store, lock_bytes, received_bytes
from knowledge.types.chunks import ChunkOptions

MAX_PATH = 1000
LONGEST_NAME = 500
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
    check_row(Document(path=path, title=_title(upload), metadata=upload.metadata), only=("path", "title", "metadata"))
    check_document_type(upload.document_type)
    classification = upload.classification or Classification(collection.classification)
    check_ceiling(principal, classification)
    policy = chunk_policy(upload.chunk_options)
    expect_bytes([upload.sha256])
    with transaction.atomic():
        lock_bytes(upload.sha256)
        get_blob_store().put(upload.sha256, upload.file)
        blob, _made = Blob.objects.get_or_create(sha256=upload.sha256, defaults={"size_bytes": upload.size_bytes})
        received_bytes([upload.sha256])
        document, is_new = _document_at(principal, collection, path, upload, classification)
        if not is_new:
            _check_owner(principal, document, replace=upload.replace)
        was_retired = document.retired_at is not None
        _apply_changes(document, upload, policy)
        outcome = _add_version(document, blob, upload, policy_id=policy.pk)
        if outcome == "unchanged" and (was_retired or _has_failed(document)):
            work_again(document)
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


def _filename(upload: Upload) -> str:
    return PurePosixPath(upload.filename.replace("\\", "/")).name[:LONGEST_NAME]


def _title(upload: Upload) -> str:
    return upload.title or upload.filename[:LONGEST_NAME]


def _document_at(
    principal: Principal, collection: Collection, path: str, upload: Upload, classification: Classification
) -> tuple[Document, bool]:
    """The locked document that the uploader means by a path, and whether it was made now.

    Documents above the uploader's ceiling count as not there: beside one of them another is made, as at a free path.
    """
    there = Document.objects.filter(collection=collection, path=path, classification__lte=principal.ceiling)
    if found := list(there.select_for_update().order_by("pk")):
        return min(found, key=lambda one: _distance(principal, one, upload, classification)), False
    made, is_new = Document.objects.get_or_create(
        collection=collection,
        path=path,
        classification=classification,
        defaults={
            "title": _title(upload),
            "document_type_id": upload.document_type or "other",
            "owner_id": principal.user_id,
            "metadata": upload.metadata,
            "source_root": upload.source_root,
            "source_stamp": upload.source_stamp,
        },
    )
    return (made if is_new else Document.objects.select_for_update().get(pk=made.pk)), is_new


def _distance(
    principal: Principal, document: Document, upload: Upload, classification: Classification
) -> tuple[bool, bool, bool]:
    """How far a document is from what an upload means: of the same source, the uploader's own, as confidential."""
    return (
        document.source_root != upload.source_root,
        document.owner_id != principal.user_id,
        document.classification != classification,
    )


def _check_owner(principal: Principal, document: Document, *, replace: bool) -> None:
    if document.owner_id == principal.user_id:
        return
    may_replace = Collection.objects.visible_to(principal, Scope.CURATE).filter(pk=document.collection_id).exists()
    if not (replace and may_replace):
        raise path_taken(document.path)


def _apply_changes(document: Document, upload: Upload, policy: ChunkPolicy) -> None:
    """Take over what the caller says now; what they leave out stays."""
    if upload.document_type:
        document.document_type_id = upload.document_type
    if upload.title:
        document.title = upload.title
    if upload.metadata:
        document.metadata = upload.metadata
    if upload.classification is not None and upload.classification != document.classification:
        check_place(document, upload.classification)
        document.classification = upload.classification
        reclassify_document(document)
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
    filename = _filename(upload)
    start_version(document, blob, filename, policy_id=policy_id, has_own_policy=upload.chunk_options is not None)
    return "new_version" if latest else "created"


def _has_failed(document: Document) -> bool:
    return document.latest_version is not None and document.latest_version.status == DocumentStatus.FAILED


def _twin(principal: Principal, document: Document, blob: Blob) -> str | None:
    """Another document with the same bytes that the caller may see."""
    visible = Document.objects.visible_to(principal).live().filter(latest_version__blob=blob).exclude(pk=document.pk)
    return visible.order_by("pk").values_list("public_id", flat=True).first()
