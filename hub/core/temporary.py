"""Temporary files: each process has a private folder of its own, which goes with it, or when others see that it died.

A process holds a lock on its folder as long as it lives, whatever ended it: the kernel gives the lock back. So a folder
without a lock is one of a dead process, on this machine and in other containers that share the disk.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

PREFIX = "process-"
# Files that a hub of before the folders of processes left beside them.
STALE_AFTER_S = 86_400.0
MEMORY = Path("/dev/shm")  # noqa: S108 (a file system in memory; the folder in it is made for its owner only)

_lock = threading.Lock()
_root: Path | None = None
_own: dict[Path, tuple[Path, int]] = {}


def set_root(path: Path) -> Path:
    """Choose the folder that the folders of processes are in; nothing is made yet."""
    global _root
    _root = path
    return path


def temp_root() -> Path:
    """Give the chosen folder; without one (parsers used without the hub) one in the system's."""
    return _root or Path(tempfile.gettempdir()) / f"hub-tmp-{os.geteuid()}"


def choose_root(chosen: Path | None, data_dir: Path, *, is_encrypted: bool, most_bytes: int) -> Path:
    """Give HUB_TEMP_DIR; else, where files are encrypted, a file system in memory with room for four largest files.

    Without such room it is ``tmp`` in HUB_DATA_DIR, which ``doctor`` then says.
    """
    if chosen is not None:
        return chosen
    if is_encrypted and in_memory_bytes() >= 4 * most_bytes:
        place = hashlib.sha256(str(data_dir).encode()).hexdigest()[:12]
        return MEMORY / f"hub-{os.geteuid()}-{place}"
    return data_dir / "tmp"


def in_memory_bytes() -> int:
    """Give the room in the machine's file system in memory; 0 where there is none for us."""
    try:
        room = os.statvfs(MEMORY)
    except OSError:
        return 0
    return room.f_bavail * room.f_frsize if os.access(MEMORY, os.W_OK) else 0


def is_in_memory(path: Path) -> bool:
    """Whether a folder is on the file system in memory that `choose_root` knows."""
    return path.is_relative_to(MEMORY)


def temp_dir() -> Path:
    """Give this process's folder (0700), made when it is asked for first."""
    root = temp_root()
    with _lock:
        if root not in _own:
            _own[root] = _make(root)
        path = _own[root][0]
        if not path.is_dir():  # somebody emptied the root
            os.close(_own.pop(root)[1])
            _own[root] = _make(root)
            path = _own[root][0]
    return path


def _make(root: Path) -> tuple[Path, int]:
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (owner := root.stat().st_uid) != os.geteuid():
        raise PermissionError(f"the folder for temporary files {root} belongs to user {owner}, not to this one")
    root.chmod(0o700)
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.suppress(BlockingIOError):  # a sweep took it for a dead process's in between
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists():
                return path, handle
        os.close(handle)


def sweep(root: Path | None = None) -> int:
    """Remove the folders of dead processes, and what no process's folder holds after a day; gives their number."""
    root, removed = root or temp_root(), 0
    if not root.is_dir():
        return 0
    for path in list(root.iterdir()):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # another sweep was first
            is_folder = path.name.startswith(PREFIX) and path.is_dir()
            removed += _remove_unlocked(path) if is_folder else _remove_stale(path)
    return removed


def _remove_unlocked(path: Path) -> bool:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return not path.exists()


def _remove_stale(path: Path) -> bool:
    if path.lstat().st_mtime > time.time() - STALE_AFTER_S:
        return False
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return True


@atexit.register
def remove_own() -> None:
    """Remove this process's folders, with all that is in them."""
    with _lock:
        for path, handle in _own.values():
            shutil.rmtree(path, ignore_errors=True)
            os.close(handle)
        _own.clear()


def _after_fork() -> None:
    """A forked child has folders of its own, and does not keep its parent's locks."""
    global _lock
    _lock = threading.Lock()
    for _path, handle in _own.values():
        os.close(handle)
    _own.clear()


os.register_at_fork(after_in_child=_after_fork)
