"""What a parser child that was taken over would read; run in a child by tests/knowledge/parsers/test_confinement.py."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path


def look_around(path: Path, *, limits: object, folder: Path, filename: str, secret: str, worker: int) -> str:
    """Try to read, write and end what is not this child's; gives what came of each by name."""
    mine = Path(folder, "mine")
    ways: dict[str, Callable[[], object]] = {
        "its own file": path.read_bytes,
        "its own folder": lambda: _own(mine),
        "a library": lambda: __import__("sqlite3"),
        "another's file": Path(secret).read_bytes,
        "another's folder": lambda: list(Path(secret).parent.iterdir()),
        "writing": lambda: Path(secret).write_text("x"),
        "a new file": lambda: Path(secret).with_name("new").write_text("x"),
        "the machine's passwords": Path("/etc/shadow").read_bytes,
        "memory of the worker": lambda: _memory(worker),
        "environment of the worker": Path(f"/proc/{worker}/environ").read_bytes,
        "memory of its host": lambda: _memory(os.getppid()),
        "ending the worker": lambda: os.kill(worker, 0),
        "ending its host": lambda: os.kill(os.getppid(), signal.SIGCONT),
        "another user": lambda: os.setuid(12345),
    }
    return json.dumps({name: _outcome(way) for name, way in ways.items()})


def _own(file: Path) -> None:
    file.write_text("x")
    file.read_text()
    file.unlink()


def _memory(process: int) -> bytes:
    with Path(f"/proc/{process}/mem").open("rb") as memory:
        first = Path(f"/proc/{process}/maps").read_text().partition("-")[0]
        memory.seek(int(first, 16))
        return memory.read(16)


def _outcome(way: Callable[[], object]) -> str:
    try:
        way()
    except Exception as error:  # noqa: BLE001 (whatever it is, it is the outcome)
        return type(error).__name__
    return "done"


def who_it_is(path: Path, *, limits: object, folder: Path, filename: str, leave: str = "") -> str:
    """Give this child's user numbers and capabilities, what it and a program read, and leave what is asked for."""
    status = Path("/proc/self/status").read_text()
    ways: dict[str, Callable[[], object]] = {
        "link": lambda: Path(folder, "left").symlink_to(path),
        "pipe": lambda: os.mkfifo(Path(folder, "left")),
    }
    return json.dumps(
        {
            "users": [*os.getresuid(), *os.getresgid(), *os.getgroups()],
            "own": re.findall(r"^Cap(?:Inh|Prm|Eff|Amb):\s+(\w+)$", status, re.MULTILINE),
            "reads": path.read_text(),
            "a program reads": subprocess.check_output(["/bin/cat", path], text=True),
            "left": _outcome(ways[leave]) if leave else "",
        }
    )
