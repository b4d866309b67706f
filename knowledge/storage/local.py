"""Blobs as files: ``ab/cd/abcd…``, written to a temporary name first and then renamed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from django.utils.translation import gettext_lazy as _

from knowledge.storage.errors import BlobMissing, StorageUnavailable

OWNER = ".owner"


class LocalBlobStore:
    """Keeps blobs below ``root``, a folder for its owner only."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def _path(self, sha256: str) -> Path:
        return self._root / sha256[:2] / sha256[2:4] / sha256

    def put(self, sha256: str, source: Path) -> None:
        target = self._path(sha256)
        if target.exists():
            return
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=".put-")
            draft = Path(name)
            try:
                with os.fdopen(handle, "wb") as out, source.open("rb") as data:
                    shutil.copyfileobj(data, out, 1024 * 1024)
                    out.flush()
                    os.fsync(out.fileno())
                draft.replace(target)
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise StorageUnavailable(
                _("The file could not be stored under {folder}: {reason}. Free space or check its permissions."),
                folder=str(self._root),
                reason=error.strerror or str(error),
            ) from error

    def open(self, sha256: str) -> IO[bytes]:
        try:
            return self._path(sha256).open("rb")
        except FileNotFoundError as error:
            raise _missing(sha256) from error

    @contextlib.contextmanager
    def local_path(self, sha256: str) -> Iterator[Path]:
        path = self._path(sha256)
        if not path.exists():
            raise _missing(sha256)
        yield path

    def delete(self, sha256: str) -> None:
        self._path(sha256).unlink(missing_ok=True)

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


def _missing(sha256: str) -> BlobMissing:
    return BlobMissing(_("The stored file {sha256} is missing. Run `manage.py doctor`."), sha256=sha256)
