"""Which names in a folder or an archive are no documents of people's."""

from __future__ import annotations

from collections.abc import Iterable

LOCK_FILE_PREFIX = "~$"  # of a document that an office program has open
# What systems put beside people's files, in small letters.
SYSTEM_NAMES = frozenset(
    {"thumbs.db", "ehthumbs.db", "desktop.ini", "__macosx", "$recycle.bin", "system volume information", "lost+found"}
)


def is_hidden(parts: Iterable[str]) -> bool:
    """Whether some part of a path is hidden, a system's own, or a lock file of an office program."""
    return any(part.startswith((".", LOCK_FILE_PREFIX)) or part.lower() in SYSTEM_NAMES for part in parts)
