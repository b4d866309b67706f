"""How much room is left where the hub writes on this machine's disks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

# Nearly full is both: little of the disk, and little in bytes. A tenth of a large disk is months.
LEAST_SHARE = 0.1
LEAST_BYTES = 10 * 1024**3


@dataclass(frozen=True, slots=True)
class Room:
    """A folder of the hub, and the bytes of its disk that are free for it and in all."""

    folder: Path
    free_bytes: int
    size_bytes: int

    @property
    def is_nearly_full(self) -> bool:
        return self.free_bytes < LEAST_BYTES and self.free_bytes < LEAST_SHARE * self.size_bytes


def rooms() -> list[Room]:
    """Give the room of HUB_DATA_DIR and HUB_BACKUP_DIR, of those that this process sees."""
    folders = (settings.HUB_DATA_DIR, settings.CONFIG.hub_backup_dir)
    return [_room(folder) for folder in folders if folder is not None and folder.is_dir()]


def _room(folder: Path) -> Room:
    disk = os.statvfs(folder)
    return Room(folder, disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize)
