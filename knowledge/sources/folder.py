"""A folder tree as a source."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from hub.core.errors import HubError
from knowledge.sources.base import (
    COPY_BLOCK,
    FetchedFile,
    FileUnreadable,
    Heartbeat,
    Listing,
    SourceFile,
    SourceUnavailable,
    private_folder,
)
from knowledge.types.file_names import is_hidden

OnError = Callable[[OSError], None]


class FolderReader:
    """Reads the tree below ``folder``; links are not followed. A file's stamp is its size and modification time."""

    def __init__(self, folder: Path) -> None:
        self._root = folder.expanduser().resolve()

    @property
    def root(self) -> str:
        return str(self._root)

    def identity(self) -> str:
        """The device below the folder: another one answers where a mount is gone."""
        try:
            return str(self._root.stat().st_dev)
        except OSError as error:
            raise self._unavailable(error) from error

    def list_files(self, heartbeat: Heartbeat) -> Listing:
        problems: list[tuple[str, HubError]] = []

        def note(error: OSError) -> None:
            place = Path(error.filename or self._root)
            if place == self._root:
                raise self._unavailable(error) from error
            problems.append((place.relative_to(self._root).as_posix(), _unreadable(error)))

        files = []
        for path in walk(self._root, on_error=note):
            heartbeat()
            status = _status(path, on_error=note)
            if status is not None and stat.S_ISREG(status.st_mode):
                name = path.relative_to(self._root).as_posix()
                files.append(SourceFile(path=name, size_bytes=status.st_size, stamp=_stamp(status)))
        return Listing(files=tuple(sorted(files, key=lambda file: file.path)), unreadable=tuple(problems))

    @contextmanager
    def fetch(self, file: SourceFile, heartbeat: Heartbeat) -> Iterator[FetchedFile]:
        with private_folder() as private:
            copy = private / Path(file.path).name
            yield FetchedFile(path=copy, stamp=_copy(self._root, file.path, copy, heartbeat))

    def _unavailable(self, error: OSError) -> SourceUnavailable:
        return SourceUnavailable(
            _("The folder {folder} can't be read: {reason}. Check that it is there, mounted, and open to the hub."),
            folder=self.root,
            reason=error.strerror or str(error),
        )


def walk(root: Path, *, on_error: OnError | None = None) -> Iterator[Path]:
    """Give the files below ``root`` in a stable order, without hidden ones, lock files of office programs and links.

    ``on_error`` hears of folders that can't be looked into; without it the error is raised.
    """
    for folder, folders, names in os.walk(root, onerror=on_error or _raise):
        folders[:] = sorted(name for name in folders if not is_hidden((name,)))
        for name in sorted(names):
            path = Path(folder, name)
            if not is_hidden((name,)) and not path.is_symlink():
                yield path


def _raise(error: OSError) -> None:
    raise error


def _status(path: Path, *, on_error: OnError) -> os.stat_result | None:
    """What the file system says of a file; None when it went meanwhile, or when ``on_error`` heard why not."""
    try:
        return path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        on_error(error)
        return None


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}"


def _open_below(root: Path, path: str) -> int:
    """Open a file below a folder, no part of whose path is a link by now; gives its descriptor."""
    *folders, name = path.split("/")
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=here)
    finally:
        os.close(here)


def _copy(root: Path, path: str, target: Path, heartbeat: Heartbeat) -> str:
    """Copy a file and give its stamp. Raises FileUnreadable, also when somebody wrote to it meanwhile."""
    try:
        with os.fdopen(_open_below(root, path), "rb") as data, target.open("xb") as out:
            before = os.fstat(data.fileno())
            while block := data.read(COPY_BLOCK):
                out.write(block)
                heartbeat()
            after = os.fstat(data.fileno())
    except OSError as error:
        raise _unreadable(error) from error
    if _stamp(before) != _stamp(after) or target.stat().st_size != after.st_size:
        raise FileUnreadable(_("The file changed while it was read. The next scan takes it in."), code="file_changing")
    return _stamp(after)


def _unreadable(error: OSError) -> FileUnreadable:
    return FileUnreadable(_("It can't be read: {reason}."), reason=error.strerror or str(error))
