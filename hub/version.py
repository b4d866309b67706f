"""The version of this code."""

from __future__ import annotations

import tomllib
from functools import cache

from hub.config import BASE_DIR


@cache
def hub_version() -> str:
    """Give the version that pyproject.toml names."""
    project = tomllib.loads((BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])
