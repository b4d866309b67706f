"""Find the processes of an embedded server: by its program, and the marker in their command lines."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process as the system lists it; a zombie has an empty ``command_line``."""

    pid: int
    program: str
    command_line: str


def marked_pids(marker: str, programs: Iterable[str]) -> set[int]:
    """Return the pids of the living processes that have ``marker`` in their command line.

    Their program's name has to begin with one of ``programs``, lest somebody who searches for the marker be found.
    """
    prefixes = tuple(programs)
    return {
        process.pid
        for process in _processes()
        if marker in process.command_line and process.program.startswith(prefixes)
    }


def send_signal(pid: int, number: signal.Signals) -> None:
    """Signal a process that may have ended by itself in the meantime."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _processes() -> Iterator[Process]:
    return _from_proc() if (_PROC / "self" / "cmdline").exists() else _from_ps()


def _from_proc() -> Iterator[Process]:
    for entry in _PROC.iterdir():
        # A process may end between the listing and the reading, or be hidden from us.
        with suppress(OSError):
            if entry.name.isdigit():
                command_line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                program = (entry / "comm").read_text(errors="replace")
                yield Process(pid=int(entry.name), program=program, command_line=command_line)


def _from_ps() -> Iterator[Process]:
    command = ["/bin/ps", "-axww", "-o", "pid=,ucomm=,command="]
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        pid, program, *rest = line.split(None, 2)
        yield Process(pid=int(pid), program=program, command_line="".join(rest))
