"""A folder tree as a source."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils.functional import Promise
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

# A folder on the way is only gone through, for which nobody needs to be let read it.
_ON_THE_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
_TO_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
LONGEST_PATH = 4096
OnError = Callable[[str, OSError], None]


class FolderReader:
    """Reads the tree below ``folder``, a whole path without links. A file's stamp is its size and modification time.

    No link is followed, not even one that takes the place of a folder, or of one above, while it reads: each is opened
    from the one before.
    """

    def __init__(self, folder: Path) -> None:
        self._root = folder

    @property
    def root(self) -> str:
        return str(self._root)

    def identity(self) -> str:
        """The device below the folder: another one answers where a mount is gone."""
        with self._opened() as here:
            return str(os.fstat(here).st_dev)

    def list_files(self, heartbeat: Heartbeat) -> Listing:
        problems: list[tuple[str, HubError]] = []

        def note(path: str, error: OSError) -> None:
            if not path:
                raise self._unavailable(error) from error
            problems.append((path, _unreadable(error)))

        files = []
        with self._opened() as here:
            for path, status in _files_below(here, on_error=note):
                heartbeat()
                files.append(SourceFile(path=path, size_bytes=status.st_size, stamp=_stamp(status)))
        return Listing(files=tuple(sorted(files, key=lambda file: file.path)), unreadable=tuple(problems))

    @contextmanager
    def fetch(self, file: SourceFile, heartbeat: Heartbeat) -> Iterator[FetchedFile]:
        with private_folder() as private:
            copy = private / Path(file.path).name
            yield FetchedFile(path=copy, stamp=_copy(self._root, file.path, copy, heartbeat))

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Have the folder open. Raises SourceUnavailable."""
        try:
            here = _open_folder(self._root)
        except OSError as error:
            raise self._unavailable(error) from error
        try:
            yield here
        finally:
            os.close(here)

    def _unavailable(self, error: OSError) -> SourceUnavailable:
        return SourceUnavailable(
            _("The folder {folder} can't be read: {reason}. Check that it is there, mounted, and open to the hub."),
            folder=self.root,
            reason=_why(error),
        )


_REASONS = {
    errno.ENOENT: _("it is not there"),
    errno.ENOTDIR: _("it is no folder"),
    errno.EACCES: _("it is not open to the hub"),
    errno.EPERM: _("it is not open to the hub"),
}


def _why(error: OSError) -> str | Promise:
    """What a system call says of a file, in the reader's language where that is known."""
    return _REASONS.get(error.errno or 0) or error.strerror or str(error)


def _files_below(root: int, *, on_error: OnError) -> Iterator[tuple[str, os.stat_result]]:
    """Give the plain files below an open folder, without hidden ones and lock files of office programs.

    ``on_error`` hears of what can't be looked into.
    """
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            found = _looked_into(root, inside)
        except OSError as error:
            on_error(inside, error)
            continue
        for name, status in found:
            path = f"{inside}/{name}" if inside else name
            if isinstance(status, OSError):
                on_error(path, status)
            elif stat.S_ISDIR(status.st_mode):
                waiting.append(path)
            elif stat.S_ISREG(status.st_mode):
                yield path, status


def _looked_into(root: int, path: str) -> list[tuple[str, os.stat_result | OSError]]:
    """What is in a folder by name, hidden ones left out: what the file system says of each, or why it says nothing."""
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    here = _open_below(root, path, _TO_LIST)
    try:
        with os.scandir(here) as entries:
            names = [entry.name for entry in entries if not is_hidden((entry.name,))]
        return [(name, status) for name in names if (status := _status(here, name)) is not None]
    finally:
        os.close(here)


def _status(folder: int, name: str) -> os.stat_result | OSError | None:
    """None when it went meanwhile."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}"


def _open_folder(folder: Path) -> int:
    """Open a folder by its whole path, no part of which is a link by now; gives its descriptor."""
    top = os.open(folder.anchor, _ON_THE_WAY)
    try:
        return _open_below(top, "/".join(folder.parts[1:]), _TO_LIST)
    finally:
        os.close(top)


def _open_below(top: int, path: str, how: int) -> int:
    """Open what is below an open folder, no part of whose path is a link by now; "" is the folder itself."""
    *folders, last = path.split("/")
    here = os.dup(top)
    try:
        for folder in folders:
            inner = os.open(folder, _ON_THE_WAY, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(last or ".", how, dir_fd=here)
    finally:
        os.close(here)


def _open_file(root: Path, path: str) -> int:
    top = _open_folder(root)
    try:
        return _open_below(top, path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    finally:
        os.close(top)


def _copy(root: Path, path: str, target: Path, heartbeat: Heartbeat) -> str:
    """Copy a file and give its stamp. Raises FileUnreadable, also when somebody wrote to it meanwhile."""
    try:
        with os.fdopen(_open_file(root, path), "rb") as data, target.open("xb") as out:
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
    return FileUnreadable(_("It can't be read: {reason}."), reason=_why(error))
