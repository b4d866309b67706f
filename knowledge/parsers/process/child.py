"""The work of the process that reads one file, forked from a host (host.py).

It binds itself to its limits before it touches the file, and writes what it read, or a reason, to RESULT. Any other
failure ends it with a traceback on stderr and no result, which the parent reports.

What it does with the file is the request's ``task``: a function named ``module:function`` by our own code, called with
the path, the limits, the private folder and the request's arguments. It gives JSON text.
"""

from __future__ import annotations

import errno
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from knowledge.parsers.errors import ParseError, parse_error, readable_size
from knowledge.parsers.limits import ParseLimits, bind_process
from knowledge.parsers.serialize import dump_error

# In the folder that is the process's own.
REQUEST, RESULT, ERRORS = "request.json", "result.json", "stderr.txt"
_MAX_NESTING = 4000


def main(request_path: Path, result_path: Path, *, inherited_bytes: int = 0) -> None:
    """Do the request's task with the file that it names and write the outcome.

    ``inherited_bytes`` of address space, which the host had for libraries, don't count against the limit.
    """
    request = json.loads(request_path.read_text(encoding="utf-8"))
    limits = ParseLimits(**request["limits"])
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


def _outcome(request: dict[str, Any], limits: ParseLimits, *, folder: Path) -> str:
    try:
        # Imported within the limits, since parsers bring large libraries.
        module, _colon, function = request["task"].partition(":")
        task = getattr(import_module(module), function)
        return str(task(Path(request["path"]), limits=limits, folder=folder, **request["arguments"]))
    except ParseError as error:
        return dump_error(error)
    except MemoryError:
        return dump_error(parse_error("out_of_memory", limit=readable_size(limits.memory_bytes)))
    except RecursionError:
        return dump_error(parse_error("too_complex"))
