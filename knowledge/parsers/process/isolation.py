"""Read a file in a child process that can hang, crash or eat memory without harm to the caller; hosts of children."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, TypeVar, cast

import knowledge
from hub.core.processes import PerProcess
from hub.core.temporary import temp_dir
from hub.core.tracing import add_span, span
from knowledge.parsers.errors import ParseError, parse_error, readable_size
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.host import ERRORS, REQUEST, RESULT
from knowledge.parsers.registry import DOCUMENT_TASK, dump_readings
from knowledge.parsers.serialize import load_document, load_result
from knowledge.types.documents import ParsedDocument
from knowledge.types.ocr import PageReading

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

        ``task`` and ``filename`` say to the host what to import before it forks.

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
            exit_code, started_ns, ended_ns, cpu_ms, peak_kib = map(int, answer.split())
            facts = {"hub.exit_code": exit_code, "hub.cpu_ms": cpu_ms, "hub.peak_kib": peak_kib}
            add_span("guarded child", facts, started_ns=started_ns, ended_ns=ended_ns)
            return exit_code
        self._wait()
        return None

    def _wait(self) -> None:
        """Wait for its end, and say so when that was none of its own."""
        if code := self._process.wait():
            logger.warning("the host of parser children ended with %s", code)

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
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
        """Return an idle host or a new one; it is killed when the caller leaves with an exception."""
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
        with self._lock:
            while self._idle:
                self._idle.pop().kill()


def host_environment() -> dict[str, str]:
    """Return a host what Python needs and nothing of ours: no secrets, no proxies, no user configuration."""
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


Result = TypeVar("Result")

# A host that was about to end for want of work, or that was killed, can't be asked; the next one is new.
_TRIES = 2
_STDERR_TAIL_BYTES = 4000
# As C++, C and Rust say it.
_MEMORY_SPENT = ("bad_alloc", "Cannot allocate memory", "memory allocation of ")


class HostLost(Exception):
    """The processes that were to read the file were ended from outside, time and again; the file is not to blame."""


def parse_isolated(
    path: Path,
    *,
    filename: str,
    limits: ParseLimits,
    heartbeat: Callable[[], None] | None = None,
    readings: Mapping[str, PageReading] = MappingProxyType({}),
) -> ParsedDocument:
    """Parse a file as a document in a child process; parameters and errors as in `run_isolated`.

    ``readings`` are what OCR read of its pictures, by their sha256.
    """

    def load(result: dict[str, Any], folder: Path) -> ParsedDocument:
        return load_document(result, folder, limits)

    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="hub-readings-", dir=temp_dir()) as known:
        known.write(dump_readings(readings))
        known.flush()
        return run_isolated(
            DOCUMENT_TASK,
            path,
            load,
            filename=filename,
            limits=limits,
            arguments={"readings": known.name} if readings else None,
            more_files=[Path(known.name)] if readings else (),
            heartbeat=heartbeat,
        )


def as_it_is(result: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """Load a task's JSON object without making anything of it."""
    return result


def run_on_bytes(
    task: str,
    data: bytes,
    load: Callable[[dict[str, Any], Path], Result],
    *,
    filename: str,
    limits: ParseLimits,
    arguments: Mapping[str, Any] | None = None,
) -> Result:
    """Run ``task`` on bytes as :func:`run_isolated` does on a file, with the same errors."""
    with tempfile.NamedTemporaryFile(prefix="hub-data-", dir=temp_dir()) as file:
        file.write(data)
        file.flush()
        return run_isolated(task, Path(file.name), load, filename=filename, limits=limits, arguments=arguments)


def run_isolated(
    task: str,
    path: Path,
    load: Callable[[dict[str, Any], Path], Result],
    *,
    filename: str,
    limits: ParseLimits,
    arguments: Mapping[str, Any] | None = None,
    more_files: Sequence[Path] = (),
    heartbeat: Callable[[], None] | None = None,
) -> Result:
    """Run ``task`` on a file in a child process without our environment, in a session apart and a private folder.

    The task is ``module:function``; it is called as ``function(path, limits=, folder=, filename=, **arguments)`` and
    gives a JSON object as text, which ``load`` turns into the result while the child's folder is still there. The
    child knows neither Django nor the database, and opens no file but this one and ``more_files``.

    ``heartbeat`` is called about once a second while the child works; what it raises ends the child and reaches the
    caller. The private folder is in the process's own and removed afterwards.

    :raises ParseError: with the file's own problem, or ``timeout``, ``out_of_memory``, ``output_too_large``,
        ``parser_crashed``.
    :raises HostLost: nothing was found out about the file; try again.
    """
    private = tempfile.TemporaryDirectory(prefix="hub-parse-", dir=temp_dir())
    with span("guarded work", {"hub.task": task}), private as folder:
        Path(folder, REQUEST).write_text(
            json.dumps(
                {
                    "task": task,
                    "path": str(path.resolve()),
                    "more_files": [str(one.resolve()) for one in more_files],
                    "arguments": {"filename": filename, **(arguments or {})},
                    "limits": dataclasses.asdict(limits),
                }
            ),
            encoding="utf-8",
        )
        exit_code = _run(Path(folder), task, filename, limits, heartbeat)
        if exit_code != 0:
            raise _failure(exit_code, Path(folder, ERRORS), limits)
        return _read(Path(folder, RESULT), limits, load)


def _run(folder: Path, task: str, filename: str, limits: ParseLimits, heartbeat: Callable[[], None] | None) -> int:
    for _try in range(_TRIES):
        with hosts.get().lend() as host:
            exit_code = host.run(folder, task=task, filename=filename, limits=limits, heartbeat=heartbeat)
        if exit_code is not None:
            return exit_code
    raise HostLost("the host of parser children ended without an answer")


def _failure(exit_code: int, stderr: Path, limits: ParseLimits) -> ParseError:
    if -exit_code == signal.SIGXCPU:
        return parse_error("timeout", limit=f"{limits.cpu_s:.0f}")
    if -exit_code == signal.SIGALRM:
        return parse_error("timeout", limit=f"{limits.wall_s:.0f}")
    if -exit_code == signal.SIGKILL:
        # Only the kernel's out-of-memory killer and CPU hard limit send it; nobody else knows the child.
        return parse_error("out_of_memory", limit=readable_size(limits.memory_bytes))
    if -exit_code == signal.SIGXFSZ:
        return parse_error("output_too_large", limit=readable_size(limits.max_output_bytes))
    cause = _last_error(stderr)
    if cause == "MemoryError" or any(sign in cause for sign in _MEMORY_SPENT):
        return parse_error("out_of_memory", limit=readable_size(limits.memory_bytes))
    detail = signal.Signals(-exit_code).name if exit_code < 0 else cause or f"exit {exit_code}"
    logger.warning("parser child failed: %s", detail)
    return parse_error("parser_crashed", detail=detail)


def _last_error(stderr: Path) -> str:
    """Return the name of the exception on the last line of a traceback, without its message: that may quote text."""
    with stderr.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(stream.tell() - _STDERR_TAIL_BYTES, 0))
        lines = stream.read().decode("utf-8", "replace").strip().splitlines()
    last = lines[-1] if lines else ""
    if any(sign in last for sign in _MEMORY_SPENT):
        return last
    return last.partition(":")[0].rpartition(".")[2][:80]


def _read(result: Path, limits: ParseLimits, load: Callable[[dict[str, Any], Path], Result]) -> Result:
    try:
        if result.stat().st_size > limits.max_output_bytes:
            raise parse_error("output_too_large", limit=readable_size(limits.max_output_bytes))
        return load(load_result(result.read_text(encoding="utf-8")), result.parent)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise parse_error("parser_crashed", detail=type(error).__name__) from error
