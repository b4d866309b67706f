"""A process that gives up what it does not need: other files, other processes (Landlock), the superuser's rights.

Landlock is Linux's way for a process to bind itself without anybody's leave. What is bound opens no file but those it
named, and can neither look into a process outside (its memory, its environment) nor send it a signal.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

# Source: include/uapi/linux/landlock.h; the numbers are those of every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE = 1 << 14
_MAKE_AND_REMOVE = 0b1_1111_1111_0000  # removing and making files of every kind, bits 4 to 12
# What each version of Landlock knows of files: moving between folders (2), truncating (3), device calls (5).
_ALL_OF_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_OF_LATER = (1 << 16) - 1
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_NO_SIGNALS_NO_SOCKETS = 0b11  # to processes outside, from version 6
_PR_SET_NO_NEW_PRIVS = 38
# Source: include/uapi/linux/capability.h
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION = 0x20080522

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
        _give_up_new_privileges()
        _checked(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return True


def drop_capabilities() -> None:
    """Give up what makes the superuser one. Its own files it can still read. :raises OSError: the kernel refused."""
    number = _CAPSET.get(os.uname().machine) if sys.platform == "linux" else None
    if number is None:
        return
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _checked(number, header, bytes(24))  # effective, permitted and inheritable: none


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


def _give_up_new_privileges() -> None:
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")


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
