"""Bringing stored files under the current master key: object by object, so that it may be ended and go on.

What was encrypted gets its data key wrapped anew, without being read. What is plain is encrypted, read back, and only
then removed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.core.encryption.errors import KeyMissing, SealBroken
from hub.core.encryption.master_keys import MasterKey, keyring
from hub.core.hashes import sha256_of
from knowledge.models import Blob, PendingBytes, SealedBlob
from knowledge.storage.blobs import bare_store, expect_bytes, get_blob_store, lock_bytes, owns_store
from knowledge.storage.ending import expect_not_ended
from knowledge.storage.errors import BlobInUse, BlobMissing, StorageUnavailable
from knowledge.storage.holding import may_remove
from knowledge.storage.sealed import SealedBlobStore, context_of, destroy_keys, sealed_rows

BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedState:
    """How many stored files are under which master key, by its id, how many plain; ``unknown`` keys are not configured.

    ``destroyed`` keys are of deleted documents whose bytes wait to be removed.
    """

    by_key: dict[str, int]
    plain: int
    destroyed: int
    current: str

    @property
    def unknown(self) -> list[str]:
        ring = keyring()
        return [key_id for key_id in self.by_key if key_id not in ring]

    @property
    def waiting(self) -> int:
        """How many files a rotation has to do with."""
        return self.plain + sum(count for key_id, count in self.by_key.items() if key_id != self.current)


def sealed_state() -> SealedState:
    """Count stored files by master key. Two queries; errors as in `MasterKey.key_id`."""
    counts = dict(SealedBlob.objects.order_by("key_id").values_list("key_id").annotate(count=Count("pk")))
    current = keyring().current
    return SealedState(
        destroyed=counts.pop("", 0), by_key=counts, plain=_plain().count(), current=current.key_id if current else ""
    )


def _plain() -> QuerySet[Blob]:
    return Blob.objects.filter(~Exists(sealed_rows().filter(sha256=OuterRef("pk"))))


@dataclass(slots=True, kw_only=True)
class Rotation:
    """What a rotation has done so far. ``in_use`` plain copies were being read, and stay for the next one; ``missing``
    files are not in the store."""

    rewrapped: int = 0
    encrypted: int = 0
    plain_removed: int = 0
    in_use: int = 0
    missing: int = 0


def rotate(progress: Callable[[Rotation], None]) -> Rotation:
    """Bring every stored file under the current master key; ``progress`` is called after each some of them.

    :raises KeyMissing: no key is configured, or one that files are encrypted under is not.
    :raises StorageUnavailable: the store does not answer, or is another database's.
    :raises SealBroken: a plain file is not what its name says; it stays as it is.
    """
    master = keyring().current
    if master is None:
        raise KeyMissing(
            _("No master key is configured: set ENCRYPTION_KEY, ENCRYPTION_KEY_FILE or ENCRYPTION_KMS_KEY first.")
        )
    if not owns_store():
        raise StorageUnavailable(
            _("The store belongs to another database, which alone may remove plain files. See manage.py doctor.")
        )
    done = Rotation()
    others = sealed_rows().exclude(key_id=master.key_id)  # whatever name the current key is configured by
    for row in others.order_by("name").iterator(BATCH):
        done.rewrapped += _rewrap(row, master)
        progress(done)
    for sha256 in list(_plain().order_by("pk").values_list("pk", flat=True)):
        try:
            done.encrypted += _encrypt(sha256)
        except BlobMissing:
            done.missing += 1
        progress(done)
    _remove_plain(done, progress)
    return done


def _rewrap(row: SealedBlob, master: MasterKey) -> int:
    context = context_of(row.name)
    wrapped = master.wrap(keyring().unwrap(row.key_id, bytes(row.wrapped_key), context), context)
    # Not if the document was deleted meanwhile: a destroyed key must not come back.
    same = SealedBlob.objects.filter(pk=row.pk, key_id=row.key_id)
    with transaction.atomic():
        expect_not_ended(wrapped.key_id)
        return same.update(key_id=wrapped.key_id, wrapped_key=wrapped.data)


def _encrypt(sha256: str) -> bool:
    """Write a plain file encrypted beside itself. False when its document was deleted meanwhile."""
    expect_bytes([sha256])
    with bare_store().local_path(sha256) as path:
        get_blob_store().put(sha256, path)
    with transaction.atomic():
        lock_bytes(sha256)
        is_used = Blob.objects.filter(pk=sha256).exists()
        note = PendingBytes.objects.filter(pk=sha256)
        if is_used:
            note.delete()
        else:
            destroy_keys([sha256])
            note.update(deleted=True)
    return is_used


def _remove_plain(done: Rotation, progress: Callable[[Rotation], None]) -> None:
    """Remove the plain copies of what is encrypted, each after the encrypted one was read and is the same."""
    there = iter(sorted(bare_store().iter_names()))
    while names := list(islice(there, BATCH)):
        for sha256 in sealed_rows().filter(sha256__in=names).values_list("sha256", flat=True):
            try:
                _remove_one(sha256)
            except BlobMissing:  # encrypting it broke off between its key and its bytes
                done.encrypted += _encrypt(sha256)
                _remove_one(sha256)
                done.plain_removed += 1
            except BlobInUse:
                done.in_use += 1
            else:
                done.plain_removed += 1
            progress(done)


def _remove_one(sha256: str) -> None:
    store = SealedBlobStore(bare_store())
    with store.open_sealed(sha256) as file:
        digest = sha256_of(file)
    if digest != sha256:
        raise SealBroken(
            _("The plain file {sha256} is not what its name says, and is kept. Restore it from a backup."),
            sha256=sha256,
        )
    with transaction.atomic():
        if not may_remove():
            raise BlobInUse(_("A backup copies the store; the plain file {sha256} is removed later."), sha256=sha256)
        bare_store().delete(sha256)
