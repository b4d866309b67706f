"""The configured store, whose it is, and removing bytes from it that nobody uses any more.

Two hubs on one bucket, a staging copy of a database, or a restored dump would each take the other's originals for
strays. The store names the one database that removes, and that one only what it wrote; every other one keeps the bytes
and reports that they wait.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from hub.core.encryption.master_keys import keyring
from knowledge.models import Blob, DocumentVersion, Figure, PendingBytes
from knowledge.ports import BlobStore
from knowledge.remote.s3 import open_client
from knowledge.storage.errors import BlobInUse
from knowledge.storage.holding import may_remove
from knowledge.storage.local import LocalBlobStore
from knowledge.storage.sealed import SealedBlobStore, destroy_keys, live_keys


def lock_bytes(sha256: str) -> None:
    """Let nobody else store or remove the bytes of this name (hex) until the running transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int(sha256[:15], 16)])


def get_blob_store() -> BlobStore:
    """Give the configured store: S3 when S3_BUCKET is set, else files under HUB_DATA_DIR; encrypted if it is asked for.

    Names are those of the plain bytes, whatever the bytes are called in the store.
    """
    return SealedBlobStore(bare_store())


@cache
def bare_store() -> BlobStore:
    """Give what holds the bytes as they are: encrypted ones under their random names."""
    config = settings.CONFIG
    if not config.s3_bucket:
        return LocalBlobStore(settings.HUB_DATA_DIR / "blobs")
    from knowledge.storage.s3 import S3BlobStore  # loads botocore

    client = open_client(endpoint_url=config.s3_endpoint_url, profile=config.aws_profile, region=config.aws_region)
    return S3BlobStore(client, config.s3_bucket)


def this_database() -> str:
    """Name the database that the hub runs on: of a copy, by dump or by CREATE DATABASE, the name is another. One query.

    A copy of the whole PostgreSQL data folder has the same name.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.system_identifier, d.oid FROM pg_control_system() c, pg_database d"
            " WHERE d.datname = current_database()"
        )
        system, database = cursor.fetchone()
    return f"{system}.{database}"


def owns_store() -> bool:
    """Return whether this database may remove bytes; a store without an owner that holds nothing unknown becomes ours.

    :raises StorageUnavailable: the store does not answer.
    """
    owner = get_blob_store().read_owner()
    if not owner and not unknown_names():
        claim_store()
        return True
    return owner == this_database()


def claim_store() -> None:
    """Make this database the one that removes bytes. An operator's decision where the store has another owner."""
    get_blob_store().write_owner(this_database())


def unknown_names() -> list[str]:
    """List what is stored and not known to this database: other hubs' bytes, or those of a dump's later uploads."""
    known = set(Blob.objects.values_list("pk", flat=True).iterator())
    known.update(PendingBytes.objects.values_list("pk", flat=True).iterator())
    return [name for name in get_blob_store().iter_names() if name not in known]


# What an upload under way has written is nobody's for minutes; remains of a broken one harm nobody for a week.
REMAINS_AFTER = timedelta(days=7)
# Broken uploads are rare. More of them at once is more likely a damaged table than remains.
MANY_REMAINS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """How removing pending bytes went: ``kept`` were many remains at once, or the store is another database's.

    ``in_use`` were being read, and go the next time.
    """

    removed: int = 0
    in_use: int = 0
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


def received_bytes(hashes: Collection[str]) -> int:
    """Take back what was noted of bytes, in the transaction that writes the rows and under their locks.

    Gives of how many the note was there, and the key if they are encrypted: without one of both, bytes that no row
    named were removed, or their key was destroyed, after they had been written.
    """
    noted = PendingBytes.objects.filter(pk__in=hashes).delete()[0]
    return min(noted, live_keys(hashes)) if noted and keyring().current else noted


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
    removed, in_use = 0, 0
    for sha256 in chosen:
        try:
            removed += _remove(sha256)
        except BlobInUse:
            in_use += 1
    return Removal(removed=removed, kept=len(due) - len(chosen), in_use=in_use)


def delete_bytes(sha256: str) -> bool:
    """Remove bytes of a deleted document unless somebody has a row for them, or is storing them now.

    False also when the store is another database's, or a backup copies it: they stay, and wait for
    `remove_pending_bytes`.

    :raises StorageUnavailable: the store does not answer.
    """
    return owns_store() and _remove(sha256)


def _remove(sha256: str) -> bool:
    with transaction.atomic():
        if not may_remove():
            return False
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedBlobs:
    """How many stored files went: with their key, which ``keys_destroyed`` of them had, all there is of them went."""

    count: int = 0
    keys_destroyed: int = 0


def remove_unused_blobs(hashes: Collection[str], *, delete: Callable[[str], object] = delete_bytes) -> RemovedBlobs:
    """Remove those of the blobs that nobody uses; ``delete`` gets their names after the commit.

    The keys of those that are encrypted are destroyed with the commit. In a transaction that has locked their bytes.
    """
    unused = unused_blobs().filter(pk__in=hashes)
    names = list(unused.values_list("pk", flat=True))
    if not names:
        return RemovedBlobs()
    keys_destroyed = destroy_keys(names)
    Blob.objects.filter(pk__in=names).delete()
    rows = [PendingBytes(sha256=sha256, deleted=True) for sha256 in names]
    PendingBytes.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["sha256"], update_fields=["deleted", "since"]
    )
    for sha256 in names:
        transaction.on_commit(partial(delete, sha256))
    return RemovedBlobs(count=len(names), keys_destroyed=keys_destroyed)
