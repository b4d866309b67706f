"""Removing stored bytes that nobody uses any more: those that this hub wrote, in a store that is its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from knowledge.models import Blob, DocumentVersion, Figure, PendingBytes
from knowledge.storage.blob_locks import lock_bytes
from knowledge.storage.registry import get_blob_store
from knowledge.storage.store_owner import owns_store

# What an upload under way has written is nobody's for minutes; remains of a broken one harm nobody for a week.
REMAINS_AFTER = timedelta(days=7)
# Broken uploads are rare. More of them at once is more likely a damaged table than remains.
MANY_REMAINS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """How removing pending bytes went: ``kept`` were many remains at once, or the store is another database's."""

    removed: int = 0
    kept: int = 0
    is_own_store: bool = True


def unused_blobs() -> QuerySet[Blob]:
    """Blobs that are neither a version's file nor a figure."""
    files = DocumentVersion.objects.filter(blob=OuterRef("pk"))
    return Blob.objects.filter(~Exists(files), ~Exists(Figure.objects.filter(blob=OuterRef("pk"))))


def expect_bytes(hashes: Iterable[str]) -> None:
    """Note that bytes are about to be written, so that they are found if it breaks off. Before the transaction."""
    rows = [PendingBytes(sha256=sha256) for sha256 in set(hashes)]
    PendingBytes.objects.bulk_create(rows, ignore_conflicts=True)


def received_bytes(hashes: Collection[str]) -> None:
    """Take back what `expect_bytes` noted, in the transaction that writes the rows."""
    PendingBytes.objects.filter(pk__in=hashes).delete()


def pending_removals(*, broken_off_since: timedelta = REMAINS_AFTER) -> QuerySet[PendingBytes]:
    """What waits to be removed: bytes of deleted documents, and remains of uploads that broke off that long ago."""
    gone = PendingBytes.objects.filter(deleted=True)
    return gone | PendingBytes.objects.filter(deleted=False, since__lt=Now() - broken_off_since)


def remove_pending_bytes(*, many: bool = False) -> Removal:
    """Remove what waits for it; remains of more than MANY_REMAINS uploads only with ``many``.

    :raises StorageUnavailable: the store does not answer.
    """
    due = list(pending_removals().order_by("pk").values_list("pk", "deleted"))
    if due and not owns_store():
        return Removal(kept=len(due), is_own_store=False)
    remains = sum(not deleted for _sha256, deleted in due)
    chosen = [sha256 for sha256, deleted in due if deleted or many or remains <= MANY_REMAINS]
    removed = sum(_remove(sha256) for sha256 in chosen)
    return Removal(removed=removed, kept=len(due) - len(chosen))


def delete_bytes(sha256: str) -> bool:
    """Remove bytes of a deleted document unless somebody has a row for them, or is storing them now.

    False also when the store is another database's: they stay, and wait for `remove_pending_bytes`.

    :raises StorageUnavailable: the store does not answer.
    """
    return owns_store() and _remove(sha256)


def _remove(sha256: str) -> bool:
    with transaction.atomic():
        lock_bytes(sha256)
        pending = PendingBytes.objects.filter(pk=sha256)
        if Blob.objects.filter(pk=sha256).exists():
            pending.delete()
            return False
        if not pending.exists():
            return False
        get_blob_store().delete(sha256)
        pending.delete()
    return True


def remove_unused_blobs(hashes: Collection[str], *, delete: Callable[[str], object] = delete_bytes) -> int:
    """Remove those of the blobs that nobody uses, and give their number; ``delete`` gets their names after the commit.

    Inside a transaction that has locked their bytes.
    """
    unused = unused_blobs().filter(pk__in=hashes)
    names = list(unused.values_list("pk", flat=True))
    Blob.objects.filter(pk__in=names).delete()
    rows = [PendingBytes(sha256=sha256, deleted=True) for sha256 in names]
    PendingBytes.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["sha256"], update_fields=["deleted", "since"]
    )
    for sha256 in names:
        transaction.on_commit(partial(delete, sha256))
    return len(names)
