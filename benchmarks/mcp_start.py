"""Measure how soon the MCP servers answer over stdio, and how soon they end, with an open stream, when told to.

``python -m benchmarks.mcp_start`` starts each server as assistants do, beside a bare server of the SDK, and prints the
seconds until the first answer (wall clock: median and longest), the processor time of such a life, and the seconds
until the process has ended after stdin was closed, SIGTERM and SIGINT. ``cold`` are starts with which the embedded
database starts too. Aims: the first answer within 5 s, bedrock-kb's within the bare server's + 0.7 s, the end within
5 s with exit code 0. Uses a scratch folder.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANAGE = str(Path(__file__).resolve().parent.parent / "manage.py")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
LISTEN = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "subscriptions/listen",
    "params": {"_meta": META, "notifications": {"toolsListChanged": True}},
}
BARE = [sys.executable, "-m", "benchmarks.mcp_echo_stdio", "bare"]
SERVERS = {name: [sys.executable, MANAGE, "mcp", name] for name in ("core", "rag", "knowledge", "bedrock-kb", "hub")}

End = Callable[["subprocess.Popen[bytes]"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One run of a server in seconds: until its first answer, from being told to end until it has, processor time."""

    first_answer: float
    end: float
    cpu: float
    exit_code: int


def close_stdin(process: subprocess.Popen[bytes]) -> None:
    """End it as clients do."""
    if process.stdin is not None:
        process.stdin.close()


ENDS: dict[str, End] = {
    "EOF": close_stdin,
    "SIGTERM": lambda process: process.send_signal(signal.SIGTERM),
    "SIGINT": lambda process: process.send_signal(signal.SIGINT),
}


def live(command: list[str], end: End, *, listens: bool = True) -> Life:
    """Start a server, ask it for its tools, open a stream, and end it."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    ask(process, LIST)
    first_answer = time.perf_counter() - started
    if listens:
        ask(process, LISTEN)
    told = time.perf_counter()
    end(process)
    _pid, status, usage = os.wait4(process.pid, 0)
    ended = time.perf_counter()
    process.returncode = os.waitstatus_to_exitcode(status)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    return Life(
        first_answer=first_answer,
        end=ended - told,
        cpu=usage.ru_utime + usage.ru_stime,
        exit_code=process.returncode,
    )


def ask(process: subprocess.Popen[bytes], request: dict[str, Any]) -> None:
    """Send a request and read one message: its answer, or the first of its stream."""
    if process.stdin is None or process.stdout is None:
        raise ValueError("the process has no pipes")
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    if not process.stdout.readline():
        raise SystemExit(f"{process.args!r} ended without an answer")


def main() -> None:
    """Measure, and print a line for each server and a line for each way to end."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mcp_start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="starts of each server (default 5)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="hub-benchmark-", ignore_cleanup_errors=True) as scratch:
        home = Path(scratch)
        home.chmod(0o711)
        os.environ |= {"HUB_DATA_DIR": scratch, "DATABASE_URL": "", "REDIS_URL": "", "HUB_TOKEN": ""}
        os.environ |= {"BEDROCK_KB_ID": "KB12345678", "DJANGO_SETTINGS_MODULE": "hub.settings"}
        subprocess.run([sys.executable, MANAGE, "migrate", "--verbosity", "0"], check=True, stderr=subprocess.DEVNULL)
        sys.stdout.write(f"{'server':16} {'median s':>9} {'longest s':>10} {'CPU s':>7}\n")
        print_starts("core, cold", [live(SERVERS["core"], close_stdin) for _ in range(rounds)])
        with databases(home):
            compare(rounds)


@contextmanager
def databases(home: Path) -> Iterator[None]:
    """Keep the embedded servers running, as a hub or another assistant's server does."""
    from hub.core.embedded import shared_postgres, shared_valkey

    servers = (shared_postgres(home / "postgres"), shared_valkey(home / "valkey"))
    for server in servers:
        server.ensure()
    try:
        yield
    finally:
        for server in servers:
            server.release()


def compare(rounds: int) -> None:
    """Start all in turn, so that they meet the same neighbours; print starts, then ends."""
    lives: dict[str, list[Life]] = {"bare SDK": [], **{name: [] for name in SERVERS}}
    ends: dict[str, list[Life]] = {name: [] for name in ENDS}
    for _round in range(rounds):
        lives["bare SDK"].append(live(BARE, close_stdin, listens=False))
        for name, command in SERVERS.items():
            lives[name].append(live(command, close_stdin, listens=name != "bedrock-kb"))
        for name, end in ENDS.items():
            ends[name].append(live(SERVERS["core"], end))
    for name, found in lives.items():
        print_starts(name, found)
    sys.stdout.write(f"\n{'core ends on':16} {'median s':>9} {'longest s':>10} {'exit codes':>11}\n")
    for name, found in ends.items():
        seconds = [one.end for one in found]
        codes = ",".join(sorted({str(one.exit_code) for one in found}))
        sys.stdout.write(f"{name:16} {statistics.median(seconds):9.2f} {max(seconds):10.2f} {codes:>11}\n")


def print_starts(name: str, lives: list[Life]) -> None:
    """Print how soon a server answered."""
    answers, cpu = [one.first_answer for one in lives], statistics.median(one.cpu for one in lives)
    sys.stdout.write(f"{name:16} {statistics.median(answers):9.2f} {max(answers):10.2f} {cpu:7.2f}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
