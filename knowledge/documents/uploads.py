"""Taking documents in: a file becomes a document, a new version of one, or nothing new."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.access.services import record_event
from hub.core.bounds import check_row
from hub.core.errors import InvalidInput
from knowledge.collections import DEFAULT_COLLECTION, get_collection
from knowledge.documents.anonymising import anonymised, wanted_in
from knowledge.documents.documents import (
    check_ceiling,
    check_document_type,
    check_place,
    chunk_policy,
    curates,
    path_taken,
)
from knowledge.documents.reindexing import start_version, work_again
from knowledge.graph.contribute import reclassify_document
from knowledge.index.changes import note_tagged
from knowledge.models import Blob, ChunkPolicy, Collection, Document, DocumentStatus, TypeGuess, UploadBatch
from knowledge.models.uploads import LONGEST_BATCH_NAME
from knowledge.storage import expect_bytes, get_blob_store, lock_bytes, received_bytes
from knowledge.text.folding import one_line
from knowledge.types.anonymising import Anonymising
from knowledge.types.chunks import ChunkOptions

MAX_PATH = 1000
LONGEST_NAME = 500
COPY_BLOCK = 1024 * 1024
_BATCH_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_BATCH_NAME}}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that a caller hands in: ``file`` is a local path, the rest is what they say of it.

    ``guess_type`` has the type of a new document guessed once its text is there, where none is given. ``batch`` names
    the caller's files that come in together.
    """

    file: Path
    filename: str
    sha256: str
    size_bytes: int
    path: str = ""
    collection: str = DEFAULT_COLLECTION
    document_type: str = ""
    guess_type: bool = False
    title: str = ""
    classification: Classification | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    chunk_options: ChunkOptions | None = None
    replace: bool = False
    batch: str = ""
    anonymise: Anonymising | None = None
    source_root: str = ""
    source_stamp: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadOutcome:
    """``outcome`` is created, new_version or unchanged; ``same_content_as`` a visible document with the same bytes.

    ``type_before`` is the code of the type that the document had, where this upload gave it another.
    ``anonymised`` says how much of each kind was replaced before anything was stored; None when nothing was to be.
    """

    document: Document
    outcome: str
    same_content_as: str | None = None
    type_before: str | None = None
    anonymised: dict[str, int] | None = None


def hash_file(path: Path) -> tuple[str, int]:
    """sha256 (hex) and size in bytes of a file, read in blocks."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as data:
        while block := data.read(COPY_BLOCK):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def create_document(*, principal: Principal, upload: Upload, hold: Callable[[], None] | None = None) -> UploadOutcome:
    """Store an upload and start the work on it once the transaction has committed.

    A path that is new makes a document; known bytes change nothing; other bytes make a new version. What
    the collection's curators and the uploader chose is replaced before anything is stored. ``hold`` is called
    first in the transaction, and may end it. Raises InvalidInput, NotFound (collection), Conflict (the path belongs to
    another uploader), StorageUnavailable.
    """
    collection = get_collection(principal, upload.collection, scope=Scope.UPLOAD)
    path = clean_path(upload.path or upload.filename)
    check_row(Document(path=path, title=_title(upload), metadata=upload.metadata), only=("path", "title", "metadata"))
    check_document_type(upload.document_type)
    classification = upload.classification or Classification(collection.classification)
    check_ceiling(principal, classification)
    with anonymised(upload, wanted_in(collection, upload.anonymise)) as (stored, replaced):
        return _store(principal, collection, path, stored, classification, replaced, hold)


def _store(
    principal: Principal,
    collection: Collection,
    path: str,
    upload: Upload,
    classification: Classification,
    replaced: dict[str, int] | None,
    hold: Callable[[], None] | None,
) -> UploadOutcome:
    own = chunk_policy(upload.chunk_options) if upload.chunk_options else collection.policy
    policy = own or chunk_policy(None)
    # Before the transaction, whose lock others would wait for: bytes that no row follows are removed a week later.
    expect_bytes([upload.sha256])
    get_blob_store().put(upload.sha256, upload.file)
    with transaction.atomic():
        if hold is not None:
            hold()
        lock_bytes(upload.sha256)
        blob, is_first = Blob.objects.get_or_create(sha256=upload.sha256, defaults={"size_bytes": upload.size_bytes})
        if not received_bytes([upload.sha256]) and is_first:  # removed meanwhile, with another document of the same
            get_blob_store().put(upload.sha256, upload.file)
        document, is_new = _document_at(principal, collection, path, upload, classification)
        if not is_new:
            _check_owner(principal, document, replace=upload.replace)
        was_retired = document.retired_at is not None
        type_before, title_before = document.document_type_id, document.title
        _apply_changes(document, upload, policy)
        batch = _batch(principal, upload.batch)
        outcome = _add_version(
            document,
            blob,
            upload,
            policy_id=policy.pk,
            has_own_policy=own is not None,
            batch=batch,
            replaced=replaced,
            type_before=(type_before or "") if type_before != document.document_type_id else "",
            title_before=title_before if title_before != document.title else "",
        )
        latest = document.latest_version
        has_failed = latest is not None and latest.status == DocumentStatus.FAILED
        if outcome == "unchanged" and (was_retired or has_failed):
            work_again(document)
        details: dict[str, Any] = {} if replaced is None else {"anonymised": replaced}
        record_event(
            principal,
            "DOCUMENT_UPLOAD",
            f"document:{document.public_id}",
            outcome=outcome,
            collection=collection.slug,
            **details,
        )
    return UploadOutcome(
        document=document,
        outcome=outcome,
        same_content_as=_twin(principal, document, blob) if is_new else None,
        type_before=type_before if type_before != document.document_type_id else None,
        anonymised=replaced,
    )


def _batch(principal: Principal, name: str) -> UploadBatch | None:
    """The caller's own batch of a name, made with its first file; None without a name."""
    if not name:
        return None
    if not _BATCH_NAME.fullmatch(name):
        raise InvalidInput(
            _("{field}: give 1 to {limit} letters, digits, - and _."), field="batch", limit=LONGEST_BATCH_NAME
        )
    return UploadBatch.objects.get_or_create(owner_id=principal.user_id, name=name)[0]


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


def _title(upload: Upload) -> str:
    return one_line(upload.title) or _filename(upload)


def _filename(upload: Upload) -> str:
    name = PurePosixPath(upload.filename.replace("\\", "/")).name
    return (one_line(name) or name)[:LONGEST_NAME]


def _document_at(
    principal: Principal, collection: Collection, path: str, upload: Upload, classification: Classification
) -> tuple[Document, bool]:
    """The locked document that the uploader means by a path, and whether it was made now.

    Documents above the uploader's ceiling count as not there: beside one of them another is made, as at a free path.
    """
    there = Document.objects.filter(collection=collection, path=path, classification__lte=principal.ceiling)
    if found := list(there.select_for_update().order_by("pk")):
        # What is of the same source comes first, then the uploader's own, then what is as confidential.
        return min(
            found,
            key=lambda one: (
                one.source_root != upload.source_root,
                one.owner_id != principal.user_id,
                one.classification != classification,
            ),
        ), False
    made, is_new = Document.objects.get_or_create(
        collection=collection,
        path=path,
        classification=classification,
        defaults={
            "title": _title(upload),
            "document_type_id": upload.document_type or "other",
            "type_guess": TypeGuess.WANTED if upload.guess_type and not upload.document_type else TypeGuess.NONE,
            "owner_id": principal.user_id,
            "metadata": upload.metadata,
            "source_root": upload.source_root,
            "source_stamp": upload.source_stamp,
        },
    )
    return (made if is_new else Document.objects.select_for_update().get(pk=made.pk)), is_new


def _check_owner(principal: Principal, document: Document, *, replace: bool) -> None:
    if document.owner_id == principal.user_id:
        return
    if not (replace and curates(principal, document)):
        raise path_taken(document.path)


def _apply_changes(document: Document, upload: Upload, policy: ChunkPolicy) -> None:
    """Take over what the caller says now; what they leave out stays."""
    if upload.document_type:
        document.document_type_id, document.type_guess = upload.document_type, TypeGuess.NONE
    if title := one_line(upload.title):
        document.title = title
    if upload.metadata:
        document.metadata = upload.metadata
    if upload.classification is not None and upload.classification != document.classification:
        check_place(document, upload.classification)
        document.classification = upload.classification
        reclassify_document(document)
        note_tagged(document.pk)
    if upload.source_root:
        document.source_root, document.source_stamp = upload.source_root, upload.source_stamp
    elif upload.chunk_options:
        document.chosen_policy = policy
    document.retired_at = None
    document.save()


def _add_version(
    document: Document,
    blob: Blob,
    upload: Upload,
    *,
    policy_id: int,
    has_own_policy: bool,
    batch: UploadBatch | None,
    replaced: dict[str, int] | None,
    type_before: str,
    title_before: str,
) -> str:
    latest = document.latest_version
    if latest and latest.blob_id == blob.pk and (upload.chunk_options is None or latest.policy_id == policy_id):
        return "unchanged"
    start_version(
        document,
        blob,
        _filename(upload),
        policy_id=policy_id,
        has_own_policy=has_own_policy,
        batch=batch,
        anonymised=replaced,
        asked_anonymising=upload.anonymise.as_json() if upload.anonymise else None,
        type_before=type_before,
        title_before=title_before,
    )
    return "new_version" if latest else "created"


def _twin(principal: Principal, document: Document, blob: Blob) -> str | None:
    """Another document with the same bytes that the caller may see."""
    visible = Document.objects.visible_to(principal).live().filter(latest_version__blob=blob).exclude(pk=document.pk)
    return visible.order_by("pk").values_list("public_id", flat=True).first()
