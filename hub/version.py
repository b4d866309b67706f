"""The version of this code, and of what browsers keep of it."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache

from hub.config import BASE_DIR


@cache
def hub_version() -> str:
    """Give the version that pyproject.toml names."""
    project = tomllib.loads((BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def static_edition() -> str:
    """Name the static files of pages by 12 hexadecimal digits, which change with any file and any pinned library."""
    digest = hashlib.sha256((BASE_DIR / "requirements" / "base.txt").read_bytes())
    for path in sorted((BASE_DIR / "hub" / "static").rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(BASE_DIR)).encode() + path.read_bytes())
    return digest.hexdigest()[:12]
