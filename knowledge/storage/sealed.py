"""Stored bytes encrypted, each object with a data key of its own, which is in the database and not beside the bytes.

So destroying a key is a statement in the transaction that deletes the document, it holds for every copy of the store,
and a master key is replaced without writing any object anew. The names of objects are random: they do not say whether
two hubs, or a thief, have the same file.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, cast

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from hub.core.encryption.errors import KeyMissing
from hub.core.encryption.key_text import KEY_BYTES
from hub.core.encryption.master_keys import MasterKey, keyring
from hub.core.encryption.sealed_files import SealingReader, open_sealed
from hub.core.hashes import sha256_of
from hub.core.temporary import temp_dir
from knowledge.models import SealedBlob
from knowledge.ports import BlobStore
from knowledge.storage.ending import expect_not_ended
from knowledge.storage.errors import BlobMissing

COPY_BLOCK = 1024 * 1024


def context_of(name: str) -> str:
    """Give what the data key of an object is bound to."""
    return f"object {name}"


def sealed_rows() -> QuerySet[SealedBlob]:
    """The rows whose key was not destroyed."""
    return SealedBlob.objects.exclude(key_id="")


def live_keys(hashes: Collection[str]) -> int:
    """How many of these bytes are encrypted and have their key. One query."""
    return sealed_rows().filter(sha256__in=hashes).count()


def destroy_keys(hashes: Collection[str]) -> int:
    """Make encrypted bytes unreadable for ever once the transaction commits; gives how many had a key. One query."""
    return sealed_rows().filter(sha256__in=hashes).update(key_id="", wrapped_key=b"")


class SealedBlobStore:
    """Encrypts what goes into a store as long as a master key is configured, and opens what was encrypted before.

    Without a key bytes are stored as they are. Raises KeyMissing, SealBroken, and KeyServiceUnavailable besides what a
    store does.
    """

    def __init__(self, bare: BlobStore) -> None:
        self._bare = bare

    @property
    def overwrites(self) -> bool:
        return self._bare.overwrites

    def put(self, sha256: str, source: Path) -> None:
        if (master := keyring().current) is None:
            self._bare.put(sha256, source)
            return
        row = _row_of(sha256, master)
        with source.open("rb") as plain, SealingReader(plain, _data_key(row), row.name) as sealed:
            self._bare.write(row.name, cast("IO[bytes]", sealed))

    def write(self, name: str, data: IO[bytes]) -> None:
        self._bare.write(name, data)

    def open(self, sha256: str) -> IO[bytes]:
        if keyring().current is None:
            return self._open_without_key(sha256)
        row = sealed_rows().filter(sha256=sha256).first()
        if row is None:
            return self._bare.open(sha256)
        try:
            return self._open_row(row)
        except BlobMissing:
            return self._open_plain_still(sha256)

    def open_sealed(self, sha256: str) -> IO[bytes]:
        """Open bytes that are encrypted, never a plain copy of them. Raises as `open` does."""
        return self._open_row(sealed_rows().get(sha256=sha256))

    def _open_row(self, row: SealedBlob) -> IO[bytes]:
        data_key = _data_key(row)
        return open_sealed(self._bare.open(row.name), data_key, row.name)

    def _open_without_key(self, sha256: str) -> IO[bytes]:
        """Open plain bytes; asks the database only when there are none."""
        try:
            return self._bare.open(sha256)
        except BlobMissing:
            row = sealed_rows().filter(sha256=sha256).first()
            if row is None:
                raise
            raise KeyMissing(
                _("The stored file {sha256} is encrypted under the master key {key_id}, and no key is configured. Set "
                  "ENCRYPTION_KEY, ENCRYPTION_KEY_FILE or ENCRYPTION_KMS_KEY as it was."),
                sha256=sha256,
                key_id=row.key_id,
            ) from None  # fmt: skip

    def _open_plain_still(self, sha256: str) -> IO[bytes]:
        """Open bytes whose encryption broke off before it wrote them, if they are what their name says."""
        file = self._bare.open(sha256)
        if sha256_of(file) != sha256:
            file.close()
            raise BlobMissing(_("The stored file {sha256} is missing. Run `manage.py doctor`."), sha256=sha256)
        file.seek(0)
        return file

    @contextlib.contextmanager
    def local_path(self, sha256: str) -> Iterator[Path]:
        if keyring().current is None or not sealed_rows().filter(sha256=sha256).exists():
            with self._plain_path(sha256) as path:
                yield path
            return
        with tempfile.TemporaryDirectory(prefix="hub-blob-", dir=temp_dir()) as folder:
            path = Path(folder) / sha256
            with self.open(sha256) as plain, path.open("wb") as copy:
                shutil.copyfileobj(plain, copy, COPY_BLOCK)
            yield path

    @contextlib.contextmanager
    def _plain_path(self, sha256: str) -> Iterator[Path]:
        with contextlib.ExitStack() as stack:
            try:
                path = stack.enter_context(self._bare.local_path(sha256))
            except BlobMissing:
                self._open_without_key(sha256).close()  # says which key is missing, if one is
                raise
            yield path

    def delete(self, sha256: str) -> None:
        rows = SealedBlob.objects.filter(sha256=sha256)
        for name in list(rows.values_list("name", flat=True)):
            self._bare.delete(name)
        rows.delete()
        self._bare.delete(sha256)

    def iter_names(self) -> Iterator[str]:
        """Yield the sha256 of everything stored; what is encrypted without a row goes by its own name. One query."""
        hashes = dict(SealedBlob.objects.values_list("name", "sha256").iterator())
        for name in self._bare.iter_names():
            yield hashes.get(name, name)

    def read_owner(self) -> str:
        return self._bare.read_owner()

    def write_owner(self, name: str) -> None:
        self._bare.write_owner(name)

    def check(self) -> None:
        self._bare.check()


def _row_of(sha256: str, master: MasterKey) -> SealedBlob:
    """Give the row of bytes, with a new data key if they have none."""
    if row := sealed_rows().filter(sha256=sha256).first():
        return row
    name = os.urandom(32).hex()
    wrapped = master.wrap(os.urandom(KEY_BYTES), context_of(name))
    fresh = SealedBlob(name=name, sha256=sha256, key_id=wrapped.key_id, wrapped_key=wrapped.data)
    with transaction.atomic():
        expect_not_ended(wrapped.key_id)
        SealedBlob.objects.bulk_create([fresh], ignore_conflicts=True)  # another may be storing the same bytes now
    return sealed_rows().get(sha256=sha256)


def _data_key(row: SealedBlob) -> bytes:
    return keyring().unwrap(row.key_id, bytes(row.wrapped_key), context_of(row.name))
