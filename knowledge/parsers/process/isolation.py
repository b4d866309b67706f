"""Read a file in a child process that can hang, crash or eat memory without harm to the caller."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import signal
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from knowledge.parsers.errors import ParseError, parse_error, readable_size
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.child import ERRORS, REQUEST, RESULT
from knowledge.parsers.process.host_pool import hosts
from knowledge.parsers.registry import DOCUMENT_TASK
from knowledge.parsers.serialize import load_document, load_result
from knowledge.types.documents import ParsedDocument

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

# A host that was about to end for want of work, or that was killed, can't be asked; the next one is new.
_TRIES = 2
_STDERR_TAIL_BYTES = 4000


class HostLost(Exception):
    """The processes that were to read the file were ended from outside, time and again; the file is not to blame."""


def parse_isolated(
    path: Path,
    *,
    filename: str,
    limits: ParseLimits,
    heartbeat: Callable[[], None] | None = None,
    scratch: Path | None = None,
) -> ParsedDocument:
    """Parse a file as a document in a child process; parameters and errors as in `run_isolated`."""

    def load(result: dict[str, Any], folder: Path) -> ParsedDocument:
        return load_document(result, folder, limits)

    return run_isolated(
        DOCUMENT_TASK, path, load, filename=filename, limits=limits, heartbeat=heartbeat, scratch=scratch
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
    with tempfile.NamedTemporaryFile(prefix="hub-data-") as file:
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
    heartbeat: Callable[[], None] | None = None,
    scratch: Path | None = None,
) -> Result:
    """Run ``task`` on a file in a child process without our environment, in a session apart and a private folder.

    The task is ``module:function``; it is called as ``function(path, limits=, folder=, filename=, **arguments)`` and
    gives a JSON object as text, which ``load`` turns into the result while the child's folder is still there. The
    child knows neither Django nor the database.

    ``heartbeat`` is called about once a second while the child works; what it raises ends the child and reaches the
    caller. The private folder is made in ``scratch`` (default: the system's) and removed afterwards.

    :raises ParseError: with the file's own problem, or ``timeout``, ``out_of_memory``, ``output_too_large``,
        ``parser_crashed``.
    :raises HostLost: nothing was found out about the file; try again.
    """
    with tempfile.TemporaryDirectory(prefix="hub-parse-", dir=scratch) as folder:
        Path(folder, REQUEST).write_text(
            json.dumps(
                {
                    "task": task,
                    "path": str(path.resolve()),
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
    """Run the child to its end and return its exit code, negative for a signal. Raises HostLost."""
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


def _read(result: Path, limits: ParseLimits, load: Callable[[dict[str, Any], Path], Result]) -> Result:
    try:
        if result.stat().st_size > limits.max_output_bytes:
            raise parse_error("output_too_large", limit=readable_size(limits.max_output_bytes))
        return load(load_result(result.read_text(encoding="utf-8")), result.parent)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise parse_error("parser_crashed", detail=type(error).__name__) from error
