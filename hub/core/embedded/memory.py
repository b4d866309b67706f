"""How much memory this machine, or the container that we run in, has."""

from __future__ import annotations

import os
from pathlib import Path

# Version 2 and version 1 of control groups; "max", or a number beyond any machine's memory, means no limit.
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def machine_memory_bytes() -> int:
    """Give the machine's memory, or the container's limit where that is less."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([physical, *_container_limits()])


def _container_limits() -> list[int]:
    said = [path.read_text(encoding="ascii").strip() for path in _LIMITS if path.is_file()]
    return [int(limit) for limit in said if limit.isdigit()]
