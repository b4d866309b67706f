"""The child's side of ``launch.py``: take the server's lock, become another user, run one command.

It runs as a script of its own (``python -I -S launched.py <order as JSON>``), because changing user and forking are
not safe inside a process that has threads. It imports the standard library only, and all of it before it gives up
its rights: the interpreter's own folder may be closed to the new user.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import sys
from typing import NoReturn

REFUSED = 125

# Source: linux/prctl.h, linux/securebits.h and linux/capability.h.
_PR_SET_SECUREBITS = 28
_SECBIT_NO_SETUID_FIXUP = 1 << 2
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_CAPABILITY_VERSION_3 = 0x20080522


def run_order(text: str) -> NoReturn:
    """Carry out one order: the JSON object that ``launch.py`` writes.

    :raises OSError: the lock is taken, or the user, the folder or the program can't be had.
    """
    order = json.loads(text)
    lock_fd = _take_lock(order["lock"]) if order["lock"] else None
    if order["run_as"]:
        _become(**order["run_as"])
    os.umask(0o077)
    os.chdir(order["folder"])
    program = order["argv"][0]
    # The same question that PostgreSQL's own programs ask about each other before they start one another.
    if not os.access(program, os.R_OK | os.X_OK):
        raise PermissionError(f"user id {os.geteuid()} can't read and execute {program}")
    if lock_fd is not None:
        _detach(lock_fd)
    os.execv(program, order["argv"])  # noqa: S606 - the caller gives a list, there is no shell


def _take_lock(path: str) -> int:
    """Lock the server's life file and let every descendant inherit it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.set_inheritable(fd, True)
    return fd


def _detach(lock_fd: int) -> None:
    """Go on in a child with a session of its own, so that a terminal's Ctrl-C doesn't reach the server."""
    if pid := os.fork():
        # Written here, not in the child, so that the number is there as soon as the launching process goes on.
        os.ftruncate(lock_fd, 0)
        os.pwrite(lock_fd, str(pid).encode(), 0)
        os._exit(0)
    os.setsid()


def _become(*, uid: int, gid: int, capability: int | None) -> None:
    """Drop to a user, keeping at most one capability, for this process and all that it executes."""
    libc = ctypes.CDLL(None, use_errno=True)
    if capability is not None:
        # Without this bit the kernel clears capabilities in setuid, and access(2) ignores them for good.
        _check(libc.prctl(_PR_SET_SECUREBITS, ctypes.c_ulong(_SECBIT_NO_SETUID_FIXUP), 0, 0, 0))
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    if capability is not None:
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        mask = 1 << capability
        sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)  # effective, permitted, inheritable; low, high
        _check(libc.capset(header, sets))
        raised = ctypes.c_ulong(_PR_CAP_AMBIENT_RAISE), ctypes.c_ulong(capability)
        _check(libc.prctl(_PR_CAP_AMBIENT, *raised, ctypes.c_ulong(0), ctypes.c_ulong(0)))


def _check(result: int) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


if __name__ == "__main__":
    try:
        run_order(sys.argv[1])
    except OSError as error:
        sys.stderr.write(f"launch refused: {error}\n")
        sys.stderr.flush()
        os._exit(REFUSED)
