"""Working on documents again: from the start, or cut otherwise."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import Conflict
from hub.core.queue import enqueue_on_commit
from knowledge.documents.documents import changeable_document
from knowledge.documents.policies import chunk_policy
from knowledge.ingest import pipeline
from knowledge.models import Blob, ChunkPolicy, Document, DocumentVersion
from knowledge.types.chunks import ChunkOptions


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
        work_again(document)
        record_event(principal=principal, action="DOCUMENT_REINDEX", resource=f"document:{document.public_id}")
    document.latest_version.refresh_from_db()
    return document


def work_again(document: Document) -> None:
    """Set the latest version, if there is one, back to its first stage, and queue it."""
    if document.latest_version_id is None:
        return
    pipeline.reset(document.latest_version_id)
    enqueue_on_commit("knowledge.advance_version", version_id=document.latest_version_id)


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
        start_version(document, latest.blob, latest.filename, policy_id=policy.pk, has_own_policy=has_own)
    return document


def _is_cut_by(version: DocumentVersion, policy: ChunkPolicy, *, chosen: bool) -> bool:
    return version.policy_id == policy.pk if chosen else not version.has_own_policy


def start_version(document: Document, blob: Blob, filename: str, *, policy_id: int, has_own_policy: bool) -> None:
    """Give a locked document its next version, which is worked on once the transaction has committed."""
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
    enqueue_on_commit("knowledge.advance_version", version_id=document.latest_version.pk)
