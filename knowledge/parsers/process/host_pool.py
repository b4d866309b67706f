"""The hosts that this process has its documents read by: started when needed, kept while documents come."""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

import knowledge
from hub.core.per_process import PerProcess
from knowledge.parsers.errors import parse_error
from knowledge.parsers.limits import ParseLimits

_MODULE = "knowledge.parsers.process.host"
_PROJECT_ROOT = Path(knowledge.__path__[0]).parent
_POLL_S = 1.0
logger = logging.getLogger(__name__)


class Host:
    """A host process, alone in its session with the children that it forks."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env=host_environment(),
            start_new_session=True,
            bufsize=0,
        )
        self._requests = cast("IO[bytes]", self._process.stdin)
        self._answers = cast("IO[bytes]", self._process.stdout)

    def run(
        self, folder: Path, *, task: str, filename: str, limits: ParseLimits, heartbeat: Callable[[], None] | None
    ) -> int | None:
        """Have a child work on the request in ``folder`` and give its exit code; None when the host ended first.

        ``task`` and ``filename`` tell the host what to import before it forks.

        :raises ParseError: ``timeout``; then, as after anything
        else that ``heartbeat`` raises, the child may still run: call `kill`.
        """
        line = json.dumps({"folder": str(folder), "task": task, "filename": filename}) + "\n"
        try:
            self._requests.write(line.encode())
        except BrokenPipeError:
            self._wait()
            return None
        deadline = time.monotonic() + limits.wall_s
        answered = select.poll()
        answered.register(self._answers, select.POLLIN)
        while not answered.poll(1000 * min(_POLL_S, max(deadline - time.monotonic(), 0))):
            if time.monotonic() >= deadline:
                raise parse_error("timeout", limit=f"{limits.wall_s:.0f}")
            if heartbeat is not None:
                heartbeat()
        answer = self._answers.readline()
        if answer:
            return int(answer)
        self._wait()
        return None

    def _wait(self) -> None:
        """Wait for its end, and say so when that was none of its own."""
        if code := self._process.wait():
            logger.warning("the host of parser children ended with %s", code)

    def is_alive(self) -> bool:
        """Tell whether it can be asked again."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the host and all that it or its children started."""
        if self._process.poll() is None:
            # Not reaped yet, so its id can't belong to another group; it may be a zombie, hence the suppression.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._requests.close()
        self._answers.close()


class HostPool:
    """Lends each caller a host for one document, in any thread."""

    def __init__(self) -> None:
        self._idle: list[Host] = []
        self._lock = threading.Lock()
        atexit.register(self.close)

    @contextlib.contextmanager
    def lend(self) -> Iterator[Host]:
        """Give an idle host or a new one; it is killed when the caller leaves with an exception."""
        host = self._take()
        try:
            yield host
        except BaseException:
            host.kill()
            raise
        if host.is_alive():
            with self._lock:
                self._idle.append(host)
        else:
            host.kill()

    def _take(self) -> Host:
        with self._lock:
            while self._idle:
                host = self._idle.pop()
                if host.is_alive():
                    return host
                host.kill()
        return Host()

    def close(self) -> None:
        """End the idle hosts."""
        with self._lock:
            while self._idle:
                self._idle.pop().kill()


def host_environment() -> dict[str, str]:
    """Give a host what Python needs and nothing of ours: no secrets, no proxies, no user configuration."""
    return {
        "PYTHONPATH": str(_PROJECT_ROOT),
        "PYTHONUTF8": "1",
        "PYTHONWARNINGS": "ignore",
        "LANG": "C.UTF-8",
        "HOME": "/",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


hosts = PerProcess(HostPool)
