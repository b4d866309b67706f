"""Tasks that fail as libraries in C do; run in a child by tests/knowledge/parsers/test_isolation.py."""

from __future__ import annotations


def spend_all_memory(*_path: object, **given: object) -> str:
    """Keep memory in ever smaller pieces until there is none for the smallest, and fail with it still kept."""
    kept: list[object] = []
    size = 1 << 28
    while size > 8:
        try:
            kept.append(bytes(size))
        except MemoryError:
            size //= 2
    return fail(*_path, kept=kept, **given)


def fail(*_path: object, **_given: object) -> str:
    raise SystemError("error return without exception set")
