"""The container of old Office files and of Outlook's messages (OLE2), written by hand."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

_SECTOR, _SMALL_SECTOR, _SMALL = 512, 64, 4096
_FREE, _END, _FAT_SECTOR = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


@dataclass
class _Sectors:
    """Sectors of one size, and which comes after which."""

    size: int
    data: bytes = b""
    chains: list[int] = field(default_factory=list)

    def add(self, data: bytes) -> int:
        """Append a stream and give the number of its first sector."""
        start, count = len(self.chains), -(-len(data) // self.size)
        self.data += data.ljust(count * self.size, b"\0")
        self.chains += [*range(start + 1, start + count), _END] if count else []
        return start if count else _END


def write_container(streams: Mapping[str, bytes]) -> bytes:
    """A container with streams by their paths (``storage/stream``); small ones are in the mini stream."""
    sectors, small = _Sectors(_SECTOR), _Sectors(_SMALL_SECTOR)
    tree: dict[str, int | bytes] = {}
    for path, data in streams.items():
        parts = path.split("/")
        for depth in range(1, len(parts)):
            tree.setdefault("/".join(parts[:depth]), b"")
        tree[path] = (small if len(data) < _SMALL else sectors).add(data)
    names = ["", *tree]
    mini = sectors.add(small.data)
    directory = b""
    for name in names:
        siblings = [other for other in names if other and _parent(other) == _parent(name)]
        later = siblings[siblings.index(name) + 1 :] if name else []
        children = [other for other in names if other and _parent(other) == name]
        links = [names.index(found[0]) if found else _FREE for found in (later, children)]
        start = mini if not name else tree[name]
        size = len(streams.get(name, b"")) if name else len(small.data)
        kind = 5 if not name else 2 if name in streams else 1
        directory += _entry(name, kind, start if isinstance(start, int) else 0, size, links)
    first_directory = sectors.add(directory)
    mini_fat = struct.pack(f"<{len(small.chains)}I", *small.chains)
    first_mini_fat = sectors.add(mini_fat.ljust(-(-len(mini_fat) // _SECTOR) * _SECTOR, b"\xff"))
    return _with_table(sectors, first_directory, first_mini_fat, -(-len(mini_fat) // _SECTOR))


def _parent(path: str) -> str | None:
    return path.rpartition("/")[0] if path else None


def _with_table(sectors: _Sectors, directory: int, mini_fat: int, mini_fats: int) -> bytes:
    chains, fats = sectors.chains, 1
    while len(chains) + fats > fats * 128:
        fats += 1
    fat = struct.pack(f"<{fats * 128}I", *(chains + [_FAT_SECTOR] * fats + [_FREE] * (fats * 128 - len(chains) - fats)))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIIIIIII", 0, fats, directory, 0, _SMALL, mini_fat, mini_fats, _END, 0)
    places = [*range(len(chains), len(chains) + fats)] + [_FREE] * (109 - fats)
    return head + struct.pack("<109I", *places) + sectors.data + fat


def _entry(path: str, kind: int, start: int, size: int, links: list[int]) -> bytes:
    right, child = links
    written = (path.rpartition("/")[2] or "Root Entry").encode("utf-16-le") + b"\0\0"
    rest = struct.pack("<III", _FREE, right, child) + bytes(36) + struct.pack("<IQ", start, size)
    return written.ljust(64, b"\0") + struct.pack("<HBB", len(written), kind, 1) + rest
