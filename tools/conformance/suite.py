"""Run the official MCP conformance suite against the fixture server of a hub of its own, and print the scores.

Needs npx and Node 22 or newer: on PATH, or a folder with ``bin/node`` in NODE_HOME. Set CONFORMANCE to the folder of
an installed ``@modelcontextprotocol/conformance`` to run without npx. Exit code: 0 all scored scenarios pass,
1 some do not, 2 the suite can't be run.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"  # the first to know 2026-07-28
REVISIONS = ("2025-11-25", "2026-07-28")
MIN_NODE = 22
START_LIMIT_S = 120.0
SCORE = re.compile(r"^Total: (\d+) passed, (\d+) failed", re.MULTILINE)


class CannotRun(Exception):
    """The suite can't be run here; the message says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the suite said of one protocol revision; ``ok`` is its own judgement of the scored scenarios."""

    revision: str
    ok: bool
    report: str

    @property
    def score(self) -> str:
        """The suite's last line of totals."""
        totals = SCORE.findall(self.report)
        if not totals:
            return "no totals in the report"
        passed, failed = totals[-1]
        where = " in scenarios that the suite does not score" if self.ok and int(failed) else ""
        return f"{passed} checks passed, {failed} failed{where}"


def suite_command() -> list[str]:
    """Give the command line of the suite. Raises CannotRun that names what is missing."""
    home = os.environ.get("NODE_HOME")
    node = str(Path(home, "bin", "node")) if home else shutil.which("node")
    if node is None or not Path(node).exists():
        raise CannotRun("Node is missing. Install Node 22 or newer, or set NODE_HOME to a folder with bin/node.")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < MIN_NODE:
        raise CannotRun(f"Node {version} is too old: the suite needs {MIN_NODE}. Set NODE_HOME to a newer one.")
    if installed := os.environ.get("CONFORMANCE"):
        return [node, str(Path(installed, "dist", "index.js"))]
    npx = shutil.which("npx")
    if npx is None:
        raise CannotRun("npx is missing; it comes with Node. Or set CONFORMANCE to the folder of an installed suite.")
    return [npx, "--yes", PACKAGE]


@contextmanager
def running_fixture() -> Iterator[str]:
    """Run a hub with the fixture in a scratch folder; yields the fixture's URL."""
    with tempfile.TemporaryDirectory(prefix="hub-conformance-") as home, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        environment = {**os.environ, "HUB_DATA_DIR": home, "HUB_ENV": "local", "HUB_MCP_CONFORMANCE": "1"}
        command = [sys.executable, "manage.py", "web", "--port", str(port), "--log-level", "error"]
        process = subprocess.Popen(
            command, cwd=ROOT, env={**environment, "HUB_PORT": str(port), "DATABASE_URL": "", "REDIS_URL": ""}
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/healthz", process)
            yield f"http://localhost:{port}/mcp/conformance/"
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise CannotRun("The hub ended while it started; its messages are above.")
        try:
            urllib.request.urlopen(url, timeout=5).close()  # noqa: S310 - our own http URL
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
        else:
            return
    raise CannotRun(f"The hub did not answer within {START_LIMIT_S:.0f} seconds.")


def run_suite(command: list[str], url: str, revision: str) -> Outcome:
    """Run exactly the scenarios that one protocol revision requires."""
    node_folder = str(Path(command[0]).parent)
    done = subprocess.run(
        [*command, "server", "--url", url, "--requirements", revision],
        env={**os.environ, "PATH": f"{node_folder}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return Outcome(revision=revision, ok=done.returncode == 0, report=done.stdout + done.stderr)


def main() -> int:
    """Run both revisions, say the scores, and show the report of a revision that fails."""
    write = sys.stdout.write
    try:
        command = suite_command()
        with running_fixture() as url:
            outcomes = [run_suite(command, url, revision) for revision in REVISIONS]
    except CannotRun as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for outcome in outcomes:
        if not outcome.ok:
            write(outcome.report)
        write(f"{outcome.revision}: {'pass' if outcome.ok else 'FAIL'} ({outcome.score})\n")
    return 0 if all(outcome.ok for outcome in outcomes) else 1
