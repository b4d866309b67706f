"""The process that parser children are forked from: ``python -m knowledge.parsers.process.host``.

Starting Python and loading a format's libraries costs more processor time than reading most documents. A host does
that once, opens no document itself, and forks a child for each: as fresh as a process of its own, and limited alone.

A line on stdin names a child's request; a line on stdout answers with its exit code (negative for a signal), when it
began and ended (ns), its processor time (ms) and the most memory that it had (KiB). One request at a time. The host
ends when its worker is gone, or after a minute without a request.

The child gives up the network, other files and processes, and binds itself to its limits before it touches the file,
and writes what it read, or a reason, to RESULT. Any other failure ends it with a traceback on stderr and no result,
which the parent reports. What it does with the file is the request's ``task``: a function named ``module:function`` by
our own code, called with the path, the limits, the private folder and the request's arguments. It returns JSON text.
"""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import select
import sys
import tempfile
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from hub.core.confinement import confine_files, leave_superuser
from hub.core.no_network import refuse_network
from hub.core.processes import collect_seldom
from knowledge.parsers.errors import ParseError, parse_error, readable_size
from knowledge.parsers.limits import ParseLimits, bind_process, take_reserve
from knowledge.parsers.registry import DOCUMENT_TASK, preload
from knowledge.parsers.serialize import dump_error

# In the folder that is the process's own.
REQUEST, RESULT, ERRORS = "request.json", "result.json", "stderr.txt"
_MAX_NESTING = 4000
_LARGE_BYTES = 64 * 1024 * 1024  # what an allocation that fails may have asked for


def main(request_path: Path, result_path: Path, *, inherited_bytes: int = 0) -> None:
    """Do the request's task with the file that it names and write the outcome.

    ``inherited_bytes`` of address space, which the host had for libraries, don't count against the limit.
    """
    request = json.loads(request_path.read_text(encoding="utf-8"))
    limits = ParseLimits(**request["limits"])
    # Each where the machine lets it; `doctor` says where not.
    refuse_network()
    leave_superuser(result_path.parent)
    files = map(Path, (request["path"], *request["more_files"]))
    confine_files(readable=[*_programs(), *files], writable=[result_path.parent, Path(os.devnull)])
    bind_process(limits, inherited_bytes=inherited_bytes)
    sys.setrecursionlimit(_MAX_NESTING)
    outcome = _outcome(request, limits, folder=result_path.parent)
    try:
        result_path.write_text(outcome, encoding="utf-8")
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        too_large = parse_error("output_too_large", limit=readable_size(limits.max_output_bytes))
        result_path.write_text(dump_error(too_large), encoding="utf-8")


# What Python and the formats' libraries look for, beside where they are installed; no file of the hub is in it.
_OF_THE_MACHINE = (
    *("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/etc/fonts"),
    *("/etc/libreoffice", "/var/lib/libreoffice", "/var/spool/libreoffice"),
    *("/dev/urandom", "/dev/random", "/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/sys/devices/system/cpu"),
)


@cache
def _programs() -> set[Path]:
    """The folders that code is read from: the machine's, Python's, and the packages beside our own."""
    own = Path(__file__).resolve().parents[3]
    installed = {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, *sys.path) if place}
    packages = {found.parent for found in own.glob("*/__init__.py")}
    return {Path(place) for place in _OF_THE_MACHINE} | (installed - {own}) | packages


def _outcome(request: dict[str, Any], limits: ParseLimits, *, folder: Path) -> str:
    try:
        # Imported within the limits, since parsers bring large libraries.
        module, _colon, function = request["task"].partition(":")
        task = getattr(import_module(module), function)
        return str(task(Path(request["path"]), limits=limits, folder=folder, **request["arguments"]))
    except Exception as error:  # noqa: BLE001 (named, or raised again by `_reason`)
        take_reserve()
        return dump_error(_reason(error, limits))


def _reason(error: Exception, limits: ParseLimits) -> ParseError:
    """Name what a task failed by; raises ``error`` again when that is not known."""
    if isinstance(error, ParseError):
        return error
    if isinstance(error, RecursionError):
        return parse_error("too_complex")
    if isinstance(error, MemoryError) or _is_memory_spent():
        return parse_error("out_of_memory", limit=readable_size(limits.memory_bytes))
    raise error


def _is_memory_spent() -> bool:
    """Whether the address space was used up to its limit: extension modules fail with any error then."""
    status = Path("/proc/self/status")
    peak = re.search(r"^VmPeak:\s+(\d+) kB$", status.read_text(), re.MULTILINE) if status.exists() else None
    limit, _hard = resource.getrlimit(resource.RLIMIT_AS)
    return peak is not None and limit != resource.RLIM_INFINITY and int(peak[1]) * 1024 + _LARGE_BYTES >= limit


IDLE_S = 60.0


def serve(requests: BinaryIO, answers: BinaryIO) -> Path | None:
    """Answer requests until there are no more; gives the folder of its request in a forked child, else None."""
    _programs()
    while select.select([requests], [], [], IDLE_S)[0] and (line := requests.readline()):
        request = json.loads(line)
        _prepare(request["task"].partition(":")[0])
        if request["task"] == DOCUMENT_TASK:
            preload(request["filename"])
        collect_seldom()
        child = os.fork()
        if not child:
            return Path(request["folder"])
        started_ns = time.time_ns()
        _, status, used = os.wait4(child, 0)
        cpu_ms = int(1000 * (used.ru_utime + used.ru_stime))
        ended = (os.waitstatus_to_exitcode(status), started_ns, time.time_ns(), cpu_ms, used.ru_maxrss)
        answers.write(b"%d %d %d %d %d\n" % ended)
    return None


@cache
def _prepare(module: str) -> None:
    """Import a task's module; its ``prepare()``, if it has one, loads once what each child would load."""
    getattr(import_module(module), "prepare", lambda: None)()


def work_in(folder: Path) -> None:
    """Make a forked child what a process of its own would be: no way to its host's pipes, a private folder."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    errors = os.open(folder / ERRORS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for target, source in enumerate((nowhere, nowhere, errors)):
        os.dup2(source, target)
    os.close(nowhere)
    os.close(errors)
    os.environ |= {"HOME": str(folder), "TMPDIR": str(folder)}
    tempfile.tempdir = None  # asked for again in the child
    os.chdir(folder)


def _inherited_bytes() -> int:
    """How much address space is taken already; 0 where the kernel doesn't say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    # Unbuffered, so that select sees what has not been read.
    with (
        os.fdopen(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as requests,
        os.fdopen(sys.stdout.fileno(), "wb", buffering=0, closefd=False) as answers,
    ):
        folder = serve(requests, answers)
    if folder is not None:
        work_in(folder)
        main(folder / REQUEST, folder / RESULT, inherited_bytes=_inherited_bytes())
        # Taking down every module that the host had loaded costs more processor time than many documents.
        os._exit(0)
