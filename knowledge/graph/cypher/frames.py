"""Messages between the hub and the process that runs queries: a JSON head, and tables of bytes after it."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import IO, Any

_LENGTHS = struct.Struct(">I")
# What the process answers when a copy was dropped between loading and asking.
NO_GRAPH = "NoGraph"
MAX_HEAD = 64 * 1024 * 1024


def write_frame(stream: IO[bytes], head: dict[str, Any], tables: Sequence[bytes] = ()) -> None:
    """Write one message and flush it."""
    encoded = json.dumps({**head, "tables": [len(table) for table in tables]}, ensure_ascii=False).encode()
    stream.write(_LENGTHS.pack(len(encoded)) + encoded)
    for table in tables:
        stream.write(table)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], list[bytes]] | None:
    """Read one message; None at the end of the stream. Raises ValueError for a head beyond MAX_HEAD bytes."""
    size = stream.read(_LENGTHS.size)
    if len(size) < _LENGTHS.size:
        return None
    (length,) = _LENGTHS.unpack(size)
    if length > MAX_HEAD:
        raise ValueError(f"a message of {length} bytes")
    encoded = stream.read(length)
    if len(encoded) < length:
        return None
    head: dict[str, Any] = json.loads(encoded)
    return head, [stream.read(number) for number in head.pop("tables", ())]
