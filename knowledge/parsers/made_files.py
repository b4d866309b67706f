"""Files that a parser child left in its folder, for its parent: plain ones alone, for the child may be hijacked."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def read_made_file(path: Path, *, max_bytes: int | None = None) -> bytes:
    """Read a file that a child made; its limits bound the size, unless ``max_bytes`` says less.

    :raises ValueError: it is no plain file, or larger. :raises OSError: it is a link, or not there.
    """
    with _opened(path) as descriptor:
        if max_bytes is not None and os.fstat(descriptor).st_size > max_bytes:
            raise ValueError("a file that was made passes the limits")
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return stream.read()


def take_made_file(path: Path, to: Path) -> Path:
    """Move a file that a child made out of its folder, as one of ours; gives ``to``. Errors as `read_made_file`'s."""
    with _opened(path) as descriptor:
        os.fchown(descriptor, os.geteuid(), os.getegid())
    return path.replace(to)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise ValueError("what was made is no plain file")
        yield descriptor
    finally:
        os.close(descriptor)
