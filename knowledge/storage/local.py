"""Blobs as files: ``ab/cd/abcd…``, written to a temporary name first and then renamed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from django.utils.translation import gettext_lazy as _

from knowledge.storage.errors import BlobInUse, BlobMissing, StorageUnavailable

OWNER = ".owner"
OVERWRITE_BYTES = 1024 * 1024


class LocalBlobStore:
    """Keeps blobs below ``root``, a folder for its owner only. A reader holds a lock, so that it stays meanwhile."""

    overwrites = True

    def __init__(self, root: Path) -> None:
        self._root = root

    def _path(self, sha256: str) -> Path:
        return self._root / sha256[:2] / sha256[2:4] / sha256

    def put(self, sha256: str, source: Path) -> None:
        if self._path(sha256).exists():
            return
        try:
            data = source.open("rb")
        except OSError as error:
            raise self._not_stored(error) from error
        with data:
            self.write(sha256, data)

    def write(self, name: str, data: IO[bytes]) -> None:
        target = self._path(name)
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, draft_name = tempfile.mkstemp(dir=target.parent, prefix=".put-")
            draft = Path(draft_name)
            try:
                with os.fdopen(handle, "wb") as out:
                    shutil.copyfileobj(data, out, 1024 * 1024)
                    out.flush()
                    os.fsync(out.fileno())
                draft.replace(target)
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._not_stored(error) from error

    def _not_stored(self, error: OSError) -> StorageUnavailable:
        return StorageUnavailable(
            _("The file could not be stored under {folder}: {reason}. Free space or check its permissions."),
            folder=str(self._root),
            reason=error.strerror or str(error),
        )

    def open(self, sha256: str) -> IO[bytes]:
        try:
            file = self._path(sha256).open("rb")
        except FileNotFoundError as error:
            raise _missing(sha256) from error
        fcntl.flock(file, fcntl.LOCK_SH)  # until it is closed; waits for one that is being overwritten
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()
        raise _missing(sha256)

    @contextlib.contextmanager
    def local_path(self, sha256: str) -> Iterator[Path]:
        with self.open(sha256):
            yield self._path(sha256)

    def delete(self, sha256: str) -> None:
        path = self._path(sha256)
        try:
            with path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _overwrite(file)
                path.unlink(missing_ok=True)
        except FileNotFoundError:
            return
        except BlockingIOError as error:
            raise BlobInUse(_("The stored file {sha256} is being read; it is removed later."), sha256=sha256) from error
        except OSError as error:
            raise self._unwritable(error) from error

    def iter_names(self) -> Iterator[str]:
        for path in self._root.glob("??/??/*"):
            if not path.name.startswith("."):
                yield path.name

    def read_owner(self) -> str:
        try:
            return (self._root / OWNER).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise self._unwritable(error) from error

    def write_owner(self, name: str) -> None:
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=self._root, delete=False) as draft:
                draft.write(name)
            Path(draft.name).replace(self._root / OWNER)
        except OSError as error:
            raise self._unwritable(error) from error

    def check(self) -> None:
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._root, prefix=".check-"):
                pass
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> StorageUnavailable:
        return StorageUnavailable(
            _("The folder {folder} can't be written to: {reason}."),
            folder=str(self._root),
            reason=error.strerror or str(error),
        )


def _overwrite(file: IO[bytes]) -> None:
    """Write zeros over all of a file, to the disk: what was there is not read from a copying of the disk's free space.

    File systems and devices that never write in place keep the old bytes; encryption is for them.
    """
    left, zeros = file.seek(0, os.SEEK_END), bytes(OVERWRITE_BYTES)
    file.seek(0)
    while left:
        left -= file.write(zeros[:left])
    file.flush()
    os.fsync(file.fileno())


def _missing(sha256: str) -> BlobMissing:
    return BlobMissing(_("The stored file {sha256} is missing. Run `manage.py doctor`."), sha256=sha256)
