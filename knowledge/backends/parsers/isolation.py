"""Parse a file in a child process that can hang, crash or eat memory without harm to the caller."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import knowledge
from knowledge.backends.parsers.errors import ParseError, parse_error, readable_size
from knowledge.backends.parsers.limits import ParseLimits
from knowledge.backends.parsers.serialize import load_outcome
from knowledge.types import ParsedDocument

logger = logging.getLogger(__name__)

_CHILD = "knowledge.backends.parsers.child"
_PROJECT_ROOT = Path(knowledge.__path__[0]).parent
_POLL_S = 1.0
_STDERR_TAIL_BYTES = 4000


def parse_isolated(
    path: Path,
    *,
    filename: str,
    limits: ParseLimits,
    heartbeat: Callable[[], None] | None = None,
    scratch: Path | None = None,
) -> ParsedDocument:
    """Parse a file in a child process with its own session, an empty environment and a private folder.

    ``heartbeat`` is called about once a second while the child works; what it raises ends the child and reaches the
    caller. The private folder is made in ``scratch`` (default: the system's) and removed afterwards.

    :raises ParseError: with the file's own problem, or ``timeout``, ``out_of_memory``, ``output_too_large``,
        ``parser_crashed``.
    """
    with tempfile.TemporaryDirectory(prefix="hub-parse-", dir=scratch) as folder:
        request, result = Path(folder, "request.json"), Path(folder, "result.json")
        request.write_text(
            json.dumps({"path": str(path.resolve()), "filename": filename, "limits": dataclasses.asdict(limits)}),
            encoding="utf-8",
        )
        stderr = Path(folder, "stderr.txt")
        exit_code = _run(request, result, stderr, limits, heartbeat)
        if exit_code != 0:
            raise _failure(exit_code, stderr, limits)
        return _read(result, limits)


def _run(request: Path, result: Path, stderr: Path, limits: ParseLimits, heartbeat: Callable[[], None] | None) -> int:
    """Run the child to its end and return its exit code, negative for a signal."""
    with stderr.open("wb") as errors:
        child = subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", _CHILD, str(request), str(result)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd=request.parent,
            env=_environment(request.parent),
            start_new_session=True,
        )
    deadline = time.monotonic() + limits.wall_s
    try:
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise parse_error("timeout", limit=f"{limits.wall_s:.0f}")
            try:
                return child.wait(timeout=min(_POLL_S, remaining))
            except subprocess.TimeoutExpired:
                if heartbeat is not None:
                    heartbeat()
    finally:
        _end_group(child)


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """Kill a child that still runs, with whatever it may have started itself."""
    if child.poll() is None:
        # Not reaped yet, so its id can't belong to another group; it may be a zombie by now, hence the suppression.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _environment(folder: Path) -> dict[str, str]:
    """Give the child what Python needs and nothing of ours: no secrets, no proxies, no user configuration."""
    return {
        "PYTHONPATH": str(_PROJECT_ROOT),
        "PYTHONUTF8": "1",
        "PYTHONWARNINGS": "ignore",
        "LANG": "C.UTF-8",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _failure(exit_code: int, stderr: Path, limits: ParseLimits) -> ParseError:
    if -exit_code in (signal.SIGXCPU, signal.SIGALRM):
        return parse_error("timeout", limit=f"{min(limits.cpu_s, limits.wall_s):.0f}")
    if -exit_code == signal.SIGKILL:
        # Only the kernel's out-of-memory killer and CPU hard limit send it; nobody else knows the child.
        return parse_error("out_of_memory", limit=readable_size(limits.memory_bytes))
    if -exit_code == signal.SIGXFSZ:
        return parse_error("output_too_large", limit=readable_size(limits.max_output_bytes))
    cause = _last_error(stderr)
    if cause == "MemoryError" or "bad_alloc" in cause or "Cannot allocate memory" in cause:
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
    if "bad_alloc" in last or "Cannot allocate memory" in last:
        return last
    return last.partition(":")[0].rpartition(".")[2][:80]


def _read(result: Path, limits: ParseLimits) -> ParsedDocument:
    try:
        if result.stat().st_size > limits.max_output_bytes:
            raise parse_error("output_too_large", limit=readable_size(limits.max_output_bytes))
        return load_outcome(result.read_text(encoding="utf-8"), result.parent, limits)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise parse_error("parser_crashed", detail=type(error).__name__) from error
