"""A process that gives up the network for good: the kernel refuses it sockets of every kind (seccomp, on Linux).

Local sockets are refused, too, since the embedded PostgreSQL and Valkey are behind them, and so is what could get round
the filter: io_uring, and reading or writing the memory of other processes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

# Source: linux/prctl.h, linux/seccomp.h, linux/audit.h, linux/bpf_common.h.
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_KILL_PROCESS, _ALLOW, _FAIL = 0x80000000, 0x7FFF0000, 0x00050000
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_AT_NUMBER, _AT_ARCHITECTURE = 0, 4
_X32 = 0x40000000
# Source: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h. In this order: socket, connect,
# accept, sendto, sendmsg, bind, listen, socketpair, accept4, sendmmsg; ptrace, process_vm_readv, process_vm_writev,
# io_uring_setup, io_uring_enter, io_uring_register, pidfd_open, pidfd_getfd.
_REFUSED = {
    "x86_64": (0xC000003E, (41, 42, 43, 44, 46, 49, 50, 53, 288, 307, 101, 310, 311, 425, 426, 427, 434, 438)),
    "aarch64": (0xC00000B7, (198, 203, 202, 206, 211, 200, 201, 199, 242, 269, 117, 270, 271, 425, 426, 427, 434, 438)),
}


def refuse_network() -> bool:
    """Give up the network in this process and all that it starts; False where the machine does not let it.

    Call it before there is a second thread: only the calling one, and what it starts, is bound.
    """
    known = _REFUSED.get(platform.machine()) if sys.platform == "linux" else None
    if known is None:
        return False
    program = _program(*known)
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of instructions, and where they are
    filter_ = struct.pack("HP", len(program) // 8, ctypes.addressof(code))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    where = ctypes.create_string_buffer(filter_, len(filter_))
    return bool(prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(where), 0, 0) == 0)


def _program(architecture: int, refused: tuple[int, ...]) -> bytes:
    """Give the filter: another architecture's calls end the process, refused ones fail with EACCES."""
    steps = [
        (_LOAD, 0, 0, _AT_ARCHITECTURE),
        (_JUMP_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _AT_NUMBER),
        (_JUMP_IF_AT_LEAST, len(refused) + 1, 0, _X32),
    ]
    steps += [(_JUMP_IF_EQUAL, len(refused) - place, 0, number) for place, number in enumerate(refused)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _FAIL | errno.EACCES)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def is_refused() -> bool:
    """Whether this process gets no socket."""
    try:
        socket.socket(socket.AF_UNIX).close()
    except PermissionError:
        return True
    return False


def can_refuse_network() -> bool:
    """Whether a process can give up the network on this machine: a child tries it."""
    child = os.fork()
    if not child:
        os._exit(0 if refuse_network() and is_refused() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
