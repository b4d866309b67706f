"""A process that gives up what it does not need: other files, other processes (Landlock), being the superuser.

Landlock is Linux's way for a process to bind itself without anybody's leave. What is bound opens no file but those it
named, and can neither look into a process outside (its memory, its environment) nor send it a signal.

A process of root's becomes a user without an account, who owns nothing on the machine. Programs and files may lie below
folders that are open to root alone (and those are not ours to open), so it keeps one of root's capabilities, to reach
files: the weaker that the system grants, CAP_DAC_READ_SEARCH or what containers often have instead, CAP_DAC_OVERRIDE.
Which files it may reach is left to Landlock.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

# Source: include/uapi/linux/landlock.h; the numbers are those of every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE = 1 << 14
_MAKE_AND_REMOVE = 0b1_1011_0000  # plain files and folders alone: who reads them follows no link, waits at no pipe
# What each version of Landlock knows of files: moving between folders (2), truncating (3), device calls (5).
_ALL_OF_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_OF_LATER = (1 << 16) - 1
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_NO_SIGNALS_NO_SOCKETS = 0b11  # to processes outside, from version 6
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECUREBITS, _NO_SETUID_FIXUP = 28, 1 << 2
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 47, 2
# Source: include/uapi/linux/capability.h
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION = 0x20080522
_CHOWN, _DAC_OVERRIDE, _DAC_READ_SEARCH, _KILL, _SETGID, _SETUID, _SETPCAP = 0, 1, 2, 5, 6, 7, 8
# To become another user, and for its parent to read and remove what that one leaves, and to end it.
_NEEDED = (_CHOWN, _DAC_OVERRIDE, _KILL, _SETGID, _SETUID, _SETPCAP)
NO_ACCOUNT = 65_533
"""The number of a user and of a group that no system gives to anybody who signs in, or runs a server as."""

READ = _EXECUTE | _READ_FILE | _READ_DIR
WRITE = READ | _WRITE_FILE | _TRUNCATE | _MAKE_AND_REMOVE


def landlock_version() -> int:
    """Give the version of Landlock that the kernel has; 0 without it."""
    if sys.platform != "linux":
        return 0
    return max(_syscall(_CREATE_RULESET, None, 0, _ASK_VERSION), 0)


def confine_files(*, readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Leave this process, and all that it starts, these files and folders alone; False where the kernel can't.

    What is not there is left out. Files that are open already stay open.

    :raises OSError: the kernel has Landlock and refused.
    """
    version = landlock_version()
    if not version:
        return False
    known = _ALL_OF_VERSION.get(version, _ALL_OF_LATER)
    # struct landlock_ruleset_attr: what is ruled of files, of the network (nothing: seccomp refuses it), of processes
    fields = [known, 0, _NO_SIGNALS_NO_SOCKETS][: 1 if version < 4 else 2 if version < 6 else 3]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _checked(_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for access, paths in ((READ, readable), (WRITE, writable)):
            for path in paths:
                _allow(ruleset, path, access & known)
        _control(_PR_SET_NO_NEW_PRIVS, 1)
        _checked(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return True


def leave_superuser(own: Path) -> bool:
    """Become a user without an account, who owns the folder ``own``, and give up all capabilities but one.

    False where the process is root and can't become anybody else, as in a container that grants too little: then it
    gives up all of them and keeps root's number. For a process with one thread. :raises OSError: the kernel refused.
    """
    if os.geteuid() != 0:
        drop_capabilities()
        return True
    try:
        _become_nobody(own)
    except OSError:  # a user namespace without that number says EINVAL
        drop_capabilities()
        return False
    return True


def _become_nobody(own: Path) -> None:
    """:raises OSError: the process may not, or can't say what it keeps; it is root still."""
    if os.uname().machine not in _CAPSET or not all(map(_has, _NEEDED)):
        raise PermissionError("too little is granted to become another user")
    kept = _DAC_READ_SEARCH if _has(_DAC_READ_SEARCH) else _DAC_OVERRIDE
    os.setgroups([])
    os.setresgid(NO_ACCOUNT, NO_ACCOUNT, NO_ACCOUNT)
    os.chown(own, NO_ACCOUNT, NO_ACCOUNT, follow_symlinks=False)
    # Else it would lose all capabilities with root's number, and access(2), by which LibreOffice asks, heed none.
    _control(_PR_SET_SECUREBITS, _NO_SETUID_FIXUP)
    os.setresuid(NO_ACCOUNT, NO_ACCOUNT, NO_ACCOUNT)
    _set_capabilities(1 << kept)
    _control(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, kept)  # for the programs that it starts


def can_leave_superuser() -> bool:
    """Whether a process of ours can be no superuser's: a child tries it."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if not child:
            os._exit(0 if leave_superuser(Path(folder)) else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def drop_capabilities() -> None:
    """Give up what makes the superuser one. Its own files it can still read. :raises OSError: the kernel refused."""
    _set_capabilities(0)


def _set_capabilities(mask: int) -> None:
    number = _CAPSET.get(os.uname().machine) if sys.platform == "linux" else None
    if number is None:
        return
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    # effective, permitted and inheritable; those above 31 are none of ours
    _checked(number, header, struct.pack("=6I", mask, mask, mask, 0, 0, 0))


def _has(capability: int) -> bool:
    held = re.search(r"^CapEff:\s+([0-9a-f]+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return held is not None and bool(int(held[1], 16) >> capability & 1)


def _allow(ruleset: int, path: Path, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not path.is_dir():
            access &= _OF_A_FILE
        _checked(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", access, place), 0)
    finally:
        os.close(place)


def _control(option: int, *values: int) -> None:
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    if prctl(option, *values, *[0] * (4 - len(values))):
        raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")


def _checked(number: int, *arguments: bytes | int) -> int:
    result = _syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}: {os.strerror(ctypes.get_errno())}")
    return result


def _syscall(number: int, *arguments: bytes | int | None) -> int:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    given = [ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value) for value in arguments]
    return int(call(ctypes.c_long(number), *given))
