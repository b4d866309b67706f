"""What the scan of a source expects of its reader, and private folders for what readers copy."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from django.utils.translation import gettext_lazy as _

from hub.core.errors import HubError, Unavailable
from hub.core.temporary import temp_dir

COPY_BLOCK = 1024 * 1024

Heartbeat = Callable[[], None]
"""Called often during long work. May raise, which ends the work."""


class SourceUnavailable(Unavailable):
    """The source as a whole can't be read now: nothing may be concluded from what is missing."""

    code = "source_unavailable"
    title = _("Source unavailable")


class FileUnreadable(HubError):
    """One file of a source can't be read; the others may."""

    code = "file_unreadable"
    status = 422
    title = _("File unreadable")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file in a source. ``path`` is relative with ``/`` between its parts; ``stamp`` changes when the file does."""

    path: str
    size_bytes: int
    stamp: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The files of a source by path, and the places (path, why) that could not be looked into."""

    files: tuple[SourceFile, ...]
    unreadable: tuple[tuple[str, HubError], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedFile:
    """A private copy of a file, and the stamp that the file had when it was copied."""

    path: Path
    stamp: str


class SourceReader(Protocol):
    """Lists and reads the files of one source."""

    @property
    def root(self) -> str:
        """What documents record as the place they came from."""

    def identity(self) -> str:
        """Name what answers under the root now (a disk, a server): an empty answer of another one proves nothing."""

    def list_files(self, heartbeat: Heartbeat) -> Listing:
        """List every file, without hidden ones and lock files of office programs. Raises SourceUnavailable."""

    def fetch(self, file: SourceFile, heartbeat: Heartbeat) -> AbstractContextManager[FetchedFile]:
        """Copy a file to a private place for as long as the context lasts. Raises FileUnreadable, SourceUnavailable."""


PREFIX = "source-"


@contextmanager
def private_folder() -> Iterator[Path]:
    """Give an empty folder for its owner only, beside the uploads; afterwards it is gone."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=temp_dir()) as folder:
        yield Path(folder)
