"""Who uses an embedded server, who may start or stop it, and whether it lives: three ``flock`` files.

``users.lock``
    Shared, one open file per process that uses the server. Nobody left = the last one out stops the server.
``start.lock``
    Exclusive, while one process starts or stops the server or counts the users.
``server.lock``
    Exclusive, inherited by the server's own processes when they are launched, with the main pid as its text.
    Free = not one process of the server is left, whatever a pid file says.

The kernel drops a lock with its last open file, so a SIGKILL of anything leaves nothing stale.

After ``fork`` a child shares its parent's open files: the parent's reference on ``users.lock`` lasts until the
parent *and* the child have closed it. So a server never goes away under a forked child, and a child never stops a
server merely by ending. A child that calls ``ensure()`` itself becomes a user like any other. ``exec`` closes
the files.
"""

from __future__ import annotations

import fcntl
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class LifecycleLocks:
    """The locks of one embedded server, as one process sees them. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.server_path = folder / "server.lock"
        self._users_path = folder / "users.lock"
        self._start_path = folder / "start.lock"
        self._mutex = threading.Lock()
        self._start_fd: int | None = None
        self._users_fd: int | None = None
        self._user_pid: int | None = None
        _every_lock.add(self)

    @property
    def is_user(self) -> bool:
        """Tell whether this process, or the parent it was forked from, holds a reference."""
        return self._users_fd is not None

    @property
    def may_stop(self) -> bool:
        """Tell whether this very process took its reference, rather than inheriting it through ``fork``."""
        return self._users_fd is not None and self._user_pid == os.getpid()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep every other thread and process from starting, stopping, joining or leaving."""
        with self._mutex:
            self._start_fd = fd = _open(self._start_path)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
                yield
            finally:
                self._start_fd = None
                # Unlocked by name, not by closing: a child forked meanwhile still has the file open.
                fcntl.flock(fd, fcntl.LOCK_UN)
                os.close(fd)

    def join(self) -> None:
        """Count this process as a user; call it inside ``exclusive()``. Idempotent."""
        if self._users_fd is None:
            fd = _open(self._users_path)
            fcntl.flock(fd, fcntl.LOCK_SH)
            self._users_fd = fd
        self._user_pid = os.getpid()

    def leave(self) -> None:
        """Give the reference back, if any."""
        if self._users_fd is not None:
            os.close(self._users_fd)
            self._users_fd = self._user_pid = None

    def has_users(self) -> bool:
        """Tell whether any process still counts as a user; call it inside ``exclusive()``."""
        return _is_locked(self._users_path)

    def server_lives(self) -> bool:
        """Tell whether any process of the server is left; call it inside ``exclusive()``."""
        return _is_locked(self.server_path)

    def server_pid(self) -> int | None:
        """Return the main pid the server was launched with; it may be dead and its number reused by now."""
        with suppress(OSError, ValueError):
            return int(self.server_path.read_text())
        return None

    def forget_thread_state(self) -> None:
        """Drop, in a freshly forked child, what belonged to threads that the child doesn't have."""
        self._mutex = threading.Lock()
        if self._start_fd is not None:
            os.close(self._start_fd)
            self._start_fd = None


_every_lock: weakref.WeakSet[LifecycleLocks] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for locks in list(_every_lock):
        locks.forget_thread_state()


os.register_at_fork(after_in_child=_after_fork_in_child)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _is_locked(path: Path) -> bool:
    fd = _open(path)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(fd)
