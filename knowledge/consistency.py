"""Whether the index and the files agree with the rows, and putting right what does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from knowledge.index.active_embedder import active_embedding_set, chunks_of
from knowledge.index.postings import lost_entries, recount_statistics, reindex_chunks
from knowledge.ingest import pipeline
from knowledge.ingest.stages import unindex
from knowledge.models import Blob, Chunk, ChunkVector, Document, DocumentStatus, DocumentVersion, LexicalEntry
from knowledge.models.documents import IN_WORK
from knowledge.storage import get_blob_store, pending_removals, remove_pending_bytes, unknown_names

SEARCHABLE = (DocumentStatus.READY, DocumentStatus.NEEDS_OCR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inconsistency:
    """Something that should not be: how much of it, and what repairing does about it."""

    code: str
    count: int
    detail: str
    remedy: str
    is_repaired: bool = False
    is_note: bool = False  # nothing is wrong with the hub, and repairing does nothing about it


def check_consistency(*, repair: bool = False, remove_many: bool = False) -> Iterator[Inconsistency]:
    """Yield what is wrong; with ``repair`` it is put right on the way, so that the next check is clean.

    With ``remove_many`` also where so many broken uploads left bytes that it is likelier that something else is wrong.
    """
    checks = (_missing_vectors, _stray_vectors, _lost_postings, _counters, _missing_blobs, _unknown_bytes, _stuck)
    for check in checks:
        found = check(repair)
        if found is not None:
            yield found
    if (pending := _pending_bytes(repair, many=remove_many)) is not None:
        yield pending


def _missing_vectors(repair: bool) -> Inconsistency | None:
    """Documents that are ready and have chunks that search can't find."""
    embedding_set = active_embedding_set()
    indexed = ChunkVector.objects.filter(embedding_set=embedding_set, chunk_id=OuterRef("pk"))
    lost = Chunk.objects.filter(chunks_of(embedding_set), ~Exists(indexed), version_id=OuterRef("current_version_id"))
    documents = Document.objects.live().filter(Exists(lost), current_version__status__in=SEARCHABLE)
    ids = list(documents.values_list("current_version_id", flat=True))
    if repair:
        for version_id in ids:
            with transaction.atomic():
                pipeline.reset(version_id)
                pipeline.queue_on_commit(version_id)
    return _found("rows_without_vectors", ids, "documents whose passages are not all indexed", "they are indexed again")


def _stray_chunks() -> QuerySet[Chunk]:
    """Chunks of versions that search does not see, which are finished and still in an index."""
    current = Document.objects.live().filter(current_version_id=OuterRef("version_id"))
    indexed = Exists(ChunkVector.objects.filter(chunk_id=OuterRef("pk"))) | Exists(
        LexicalEntry.objects.filter(chunk_id=OuterRef("pk"))
    )
    return Chunk.objects.filter(~Exists(current), indexed).exclude(version__status__in=IN_WORK)


def _stray_vectors(repair: bool) -> Inconsistency | None:
    ids = list(_stray_chunks().values_list("pk", flat=True))
    if repair and ids:
        with transaction.atomic():
            unindex(ids)
    return _found(
        "vectors_without_rows", ids, "indexed passages of versions that are not current", "they leave the index"
    )


def _lost_postings(repair: bool) -> Inconsistency | None:
    """Chunks that count as indexed and have no postings, so that no word finds them."""
    lost = lost_entries()
    if repair:
        reindex_chunks(lost)
    return _found("rows_without_postings", lost, "indexed passages without postings", "they are indexed again")


def _counters(repair: bool) -> Inconsistency | None:
    with transaction.atomic():
        wrong = recount_statistics()
        if not repair:
            transaction.set_rollback(True)
    return _found("counters", [1] if wrong else [], "the lexical index's counters are wrong", "they are counted again")


def _missing_blobs(_repair: bool) -> Inconsistency | None:
    stored = set(get_blob_store().iter_names())
    missing = [sha256 for sha256 in Blob.objects.values_list("pk", flat=True).iterator() if sha256 not in stored]
    return _found("blobs_missing", missing, "files that are not in the store", "can't be repaired: restore a backup")


def _unknown_bytes(_repair: bool) -> Inconsistency | None:
    """Files that this database knows nothing of, and so never removes."""
    found = _found(
        "blobs_unknown",
        unknown_names(),
        "stored files that this database did not write",
        "they are kept: another hub's, later uploads than a restored dump knows, or what an older version left",
    )
    return found and replace(found, is_repaired=False, is_note=True)


def _pending_bytes(repair: bool, *, many: bool) -> Inconsistency | None:
    """Files of deleted documents, and of uploads that broke off a week ago."""
    count = pending_removals().count()
    if not count:
        return None
    what, remedy = "stored files whose documents are gone, or never came", "they are removed"
    if not repair:
        return Inconsistency(code="blobs_without_rows", count=count, detail=what, remedy=remedy)
    removal = remove_pending_bytes(many=many)
    if removal.kept:
        remedy = (
            f"{removal.kept} are kept, which is more than broken uploads leave: look, then run it with --remove-many"
            if removal.is_own_store
            else "they are kept, since the store belongs to another database; see the line store_owner"
        )
    return Inconsistency(
        code="blobs_without_rows", count=count, detail=what, remedy=remedy, is_repaired=not removal.kept
    )


def _stuck(repair: bool) -> Inconsistency | None:
    """Versions whose worker died; the sweep of a running hub takes them up by itself."""
    dead = DocumentVersion.objects.filter(status__in=IN_WORK, lease_expires_at__lt=Now())
    ids = list(dead.values_list("pk", flat=True))
    if repair:
        pipeline.give_leases_back(DocumentVersion.objects.filter(pk__in=ids))
    return _found("stuck", ids, "documents whose worker died", "they are taken up again")


def _found(code: str, items: list[int] | list[str], detail: str, remedy: str) -> Inconsistency | None:
    repairable = not code.endswith("_missing")
    found = Inconsistency(code=code, count=len(items), detail=detail, remedy=remedy, is_repaired=repairable)
    return found if items else None
