"""Importing this makes all files and folders that the process creates its owner's only, whichever library does it."""

from __future__ import annotations

import os
from pathlib import Path

PERSONS_UMASK = os.umask(0o077)


def write_for_person(path: Path, content: bytes) -> None:
    """Write a file that somebody asked for by name, with the mode that their shell gives files."""
    path.write_bytes(content)
    path.chmod(0o666 & ~PERSONS_UMASK)
