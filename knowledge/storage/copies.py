"""Stored files as a backup takes and gives them: encrypted ones as they lie in the store, under their own names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, cast

from hub.core.encryption.errors import KeyMissing
from hub.core.encryption.master_keys import keyring
from hub.core.encryption.sealed_files import open_sealed
from hub.core.hashes import sha256_of
from knowledge.models import Blob, SealedBlob
from knowledge.storage.blobs import bare_store
from knowledge.storage.errors import BlobMissing
from knowledge.storage.sealed import context_of, sealed_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """Bytes that the database names: what they are called in the store, and the sha256 of what they are in plain.

    ``key`` is of the row whose data key opens them; None where the store has them in plain.
    """

    name: str
    sha256: str
    size_bytes: int
    key: SealedBlob | None = None

    def is_whole(self, stored: IO[bytes]) -> bool | None:
        """Read bytes of the store to their end, and leave them open: are they this file's?

        None when its master key is not configured.

        :raises SealBroken, KeyServiceUnavailable: see there.
        """
        if self.key is None:
            return sha256_of(stored) == self.sha256
        row = self.key
        try:
            data_key = keyring().unwrap(row.key_id, bytes(row.wrapped_key), context_of(row.name))
        except KeyMissing:
            return None
        return sha256_of(open_sealed(cast("IO[bytes]", _StaysOpen(stored)), data_key, row.name)) == self.sha256


class _StaysOpen:
    """Bytes for a reader that closes what it has read."""

    def __init__(self, file: IO[bytes]) -> None:
        self.read, self.seek = file.read, file.seek

    def close(self) -> None:
        """Leave them open."""


def stored_files() -> list[StoredFile]:
    """List every stored file that a row names, by sha256. Two queries, in the caller's snapshot."""
    keys = {row.sha256: row for row in sealed_rows().iterator()}
    return [
        StoredFile(
            name=keys[sha256].name if sha256 in keys else sha256,
            sha256=sha256,
            size_bytes=size_bytes,
            key=keys.get(sha256),
        )
        for sha256, size_bytes in Blob.objects.order_by("pk").values_list("pk", "size_bytes").iterator()
    ]


def open_for_copy(file: StoredFile) -> tuple[StoredFile, IO[bytes]]:
    """Open the bytes as they are in the store; plain ones, and said so, where encrypting them has not got so far.

    :raises BlobMissing, StorageUnavailable: see there.
    """
    try:
        return file, bare_store().open(file.name)
    except BlobMissing:
        if file.key is None:
            raise
    plain = StoredFile(name=file.sha256, sha256=file.sha256, size_bytes=file.size_bytes)
    return plain, bare_store().open(plain.name)


def put_copy(name: str, stored_sha256: str, open_data: Callable[[], AbstractContextManager[IO[bytes]]]) -> bool:
    """Put bytes back under the name that they had in the store; False if they are there already.

    ``open_data`` is called for bytes that are not. :raises StorageUnavailable: see there.
    """
    try:
        with bare_store().open(name) as there:
            if sha256_of(there) == stored_sha256:
                return False
    except BlobMissing:
        pass
    else:
        bare_store().delete(name)  # cut off, or damaged: not what the backup has
    with open_data() as data:
        bare_store().write(name, data)
    return True
