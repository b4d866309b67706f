"""What a parser child that was taken over would try; run in a child by tests/knowledge/parsers/test_no_network.py."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def reach_out(_path: Path, *, limits: object, folder: Path, filename: str, port: int, unix: str) -> str:
    """Try to connect in every way that there is; gives what came of each by name."""
    again = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
    ways: dict[str, Callable[[], object]] = {
        "tcp": lambda: socket.create_connection(("127.0.0.1", port), timeout=2),
        "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)),
        "ipv6": lambda: socket.socket(socket.AF_INET6),
        "unix": lambda: socket.socket(socket.AF_UNIX).connect(unix),
        "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
        "pair": socket.socketpair,
        "name": lambda: socket.getaddrinfo("example.jp", 80),
        "io_uring": lambda: _call(425, 8, 0),
        "a program": lambda: subprocess.run([sys.executable, "-c", again], check=True, capture_output=True),
    }
    return json.dumps({name: _outcome(way) for name, way in ways.items()})


def _call(number: int, *arguments: int) -> None:
    if ctypes.CDLL(None, use_errno=True).syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _outcome(way: Callable[[], object]) -> str:
    try:
        way()
    except Exception as error:  # noqa: BLE001 (whatever it is, it is the outcome)
        return type(error).__name__
    return "done"
