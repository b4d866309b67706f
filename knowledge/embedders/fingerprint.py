"""Hashes that tell whether two embedders give comparable vectors."""

import hashlib
from pathlib import Path


def digest_of(*parts: str) -> str:
    """Hash the parts of a fingerprint, their boundaries included: SHA-256 in hexadecimal."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode()).hexdigest()


def hash_file(path: Path) -> str:
    """Hash a file's content: SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
