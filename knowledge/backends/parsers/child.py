"""The work of the process that reads one file, forked from a host (host.py).

It binds itself to its limits before it touches the file, and writes a document or a reason to RESULT. Any other
failure ends it with a traceback on stderr and no result, which the parent reports.
"""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path

from knowledge.backends.parsers.errors import ParseError, parse_error, readable_size
from knowledge.backends.parsers.limits import ParseLimits, bind_process
from knowledge.backends.parsers.serialize import dump_document, dump_error

# In the folder that is the process's own.
REQUEST, RESULT, ERRORS = "request.json", "result.json", "stderr.txt"
_MAX_NESTING = 4000


def main(request_path: Path, result_path: Path, *, inherited_bytes: int = 0) -> None:
    """Parse the file that the request names and write the outcome.

    ``inherited_bytes`` of address space, which the host had for libraries, don't count against the limit.
    """
    request = json.loads(request_path.read_text(encoding="utf-8"))
    limits = ParseLimits(**request["limits"])
    bind_process(limits, inherited_bytes=inherited_bytes)
    sys.setrecursionlimit(_MAX_NESTING)
    outcome = _outcome(Path(request["path"]), request["filename"], limits, folder=result_path.parent)
    try:
        result_path.write_text(outcome, encoding="utf-8")
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        too_large = parse_error("output_too_large", limit=readable_size(limits.max_output_bytes))
        result_path.write_text(dump_error(too_large), encoding="utf-8")


def _outcome(path: Path, filename: str, limits: ParseLimits, *, folder: Path) -> str:
    try:
        # Imported within the limits, since parsers bring large libraries.
        from knowledge.backends.parsers.registry import parse_file

        return dump_document(parse_file(path, filename=filename, limits=limits), folder)
    except ParseError as error:
        return dump_error(error)
    except MemoryError:
        return dump_error(parse_error("out_of_memory", limit=readable_size(limits.memory_bytes)))
    except RecursionError:
        return dump_error(parse_error("too_complex"))
