"""Time and memory of this process and of the parser processes that it starts."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOST = b"knowledge.parsers.process.host"


class Clock:
    """Adds up wall time and processor time by stage: this process's and that of the processes it started.

    The database's processor time is not in it, as the server belongs to no one process.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.processor: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start, used = time.perf_counter(), processor_seconds()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - start
            self.processor[stage] += processor_seconds() - used

    def clear(self) -> None:
        """Begin anew."""
        self.seconds.clear()
        self.processor.clear()

    def without(self, stage: str, inner: str) -> None:
        """Take the time of one stage out of another that it was part of."""
        self.seconds[stage] -= self.seconds[inner]
        self.processor[stage] -= self.processor[inner]


def processor_seconds() -> float:
    """Processor time of this thread, of the parser hosts that still run, and of their children that have ended."""
    ticks = sum(_ticks(folder) for folder in _hosts())
    return time.thread_time() + ticks / os.sysconf("SC_CLK_TCK")


def _ticks(host: Path) -> int:
    fields = _read(host / "stat").rpartition(b")")[2].split()
    return sum(map(int, fields[11:15]))  # proc(5): utime, stime, cutime, cstime


def _hosts() -> list[Path]:
    """The processes of ours that parser children are forked from."""
    return [folder for folder in _children_of(Path("/proc/self")) if HOST in _read(folder / "cmdline")]


def _children_of(process: Path) -> list[Path]:
    """What a process has started and still runs; the kernel is asked for these alone, as the clock ticks meanwhile."""
    listed = b" ".join(_read(thread / "children") for thread in (process / "task").iterdir())
    return [Path("/proc", child.decode()) for child in listed.split()]


def _read(path: Path) -> bytes:
    """Read a file of /proc; nothing when the process has ended."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


class ParserMemory(threading.Thread):
    """Watches the peak memory of our parser children; getrusage can't, as a fork starts with its parent's peak."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak_kib = 0

    def run(self) -> None:
        while True:
            for host in _hosts():
                for child in _children_of(host):
                    self.peak_kib = max(self.peak_kib, _peak_kib(child))
            time.sleep(0.2)


def _peak_kib(folder: Path) -> int:
    rows = _read(folder / "status").decode().splitlines()
    fields = dict(row.split(":", 1) for row in rows)
    return int(fields["VmHWM"].split()[0]) if "VmHWM" in fields else 0
