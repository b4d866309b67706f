"""The SHA-256 of what a file holds, in hexadecimal."""

import hashlib
from pathlib import Path
from typing import IO


def sha256_of(file: IO[bytes]) -> str:
    """Hash what is read from an open file."""
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # it is a binary file


def sha256_of_file(path: Path) -> str:
    """Hash a file's content."""
    with path.open("rb") as file:
        return sha256_of(file)
