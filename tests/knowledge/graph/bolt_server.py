"""A small server that speaks Bolt 5.0, for the adapter's tests: no Neo4j can be had where the suite runs.

Source: the Bolt protocol's specification (handshake, chunked messages, the messages of version 5.0). Values are packed
and unpacked by the driver's own codec, so what is shown is the adapter's use of the protocol, not Neo4j's Cypher.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from neo4j._codec.packstream import Structure
from neo4j._codec.packstream._common import PackableBuffer, UnpackableBuffer
from neo4j._codec.packstream.v1 import Packer, Unpacker

HELLO, GOODBYE, RESET, RUN, BEGIN, COMMIT, ROLLBACK, DISCARD, PULL = (
    *(0x01, 0x02, 0x0F, 0x10),
    *(0x11, 0x12, 0x13, 0x2F, 0x3F),
)
SUCCESS, RECORD, FAILURE = b"\x70", b"\x71", b"\x7f"


class Refusal(Exception):
    """What the server answers instead of records: Neo4j's code and message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


@dataclass(slots=True)
class BoltServer:
    """``answer`` gives field names and rows for a query and its parameters, or raises Refusal."""

    answer: Callable[[str, dict[str, Any]], tuple[Sequence[str], Sequence[Sequence[Any]]]]
    port: int = 0
    seen: list[tuple[int, tuple[Any, ...]]] = field(default_factory=list)

    def told(self, tag: int) -> list[tuple[Any, ...]]:
        """The fields of every message of a kind, in order."""
        return [fields for kind, fields in self.seen if kind == tag]


@contextmanager
def serving(server: BoltServer) -> Iterator[BoltServer]:
    """Serve on a free port until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    server.port = listener.getsockname()[1]
    thread = threading.Thread(target=_accept, args=(listener, server), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=10)


def _accept(listener: socket.socket, server: BoltServer) -> None:
    while True:
        try:
            connection, _address = listener.accept()
        except OSError:  # the listener was closed: the test is over
            return
        with connection:
            _talk(connection, server)


def _talk(connection: socket.socket, server: BoltServer) -> None:
    stream = connection.makefile("rb")
    if stream.read(4) != b"\x60\x60\xb0\x17":
        return
    stream.read(16)  # four proposals; 5.0 is within every range that a driver of today offers
    connection.sendall(b"\x00\x00\x00\x05")
    rows: Sequence[Sequence[Any]] = ()
    while message := _read(stream):
        tag, fields = message
        server.seen.append((tag, fields))
        if tag == GOODBYE:
            return
        if tag == RUN:
            try:
                names, rows = server.answer(fields[0], fields[1])
            except Refusal as refusal:
                _send(connection, FAILURE, {"code": refusal.code, "message": refusal.message})
            else:
                _send(connection, SUCCESS, {"fields": list(names)})
        elif tag == PULL:
            rows = _pull(connection, rows, fields[0]["n"])
        else:
            _send(connection, SUCCESS, {"server": "Neo4j/5.0.0", "connection_id": "bolt-1"} if tag == HELLO else {})


def _pull(connection: socket.socket, rows: Sequence[Sequence[Any]], size: int) -> Sequence[Sequence[Any]]:
    for row in rows[:size]:
        _send(connection, RECORD, list(row))
    rest = rows[size:]
    _send(connection, SUCCESS, {"has_more": True} if rest else {})
    return rest


def _read(stream: Any) -> tuple[int, tuple[Any, ...]] | None:
    body = bytearray()
    while head := stream.read(2):
        size = struct.unpack(">H", head)[0]
        if size:
            body += stream.read(size)
        elif body:
            buffer = UnpackableBuffer(body)
            unpacker = Unpacker(buffer)
            count, tag = unpacker.unpack_structure_header()
            return tag[0], tuple(unpacker.unpack() for _ in range(count))
    return None


def _send(connection: socket.socket, tag: bytes, value: object) -> None:
    buffer = PackableBuffer()
    Packer(buffer).pack_struct(tag, [value])
    connection.sendall(struct.pack(">H", len(buffer.data)) + bytes(buffer.data) + b"\x00\x00")


def node(number: int, label: str, **properties: object) -> Structure:
    """A node as Bolt 5 sends it."""
    return Structure(b"N", number, [label], properties, f"4:x:{number}")


def relationship(number: int, kind: str, start: int, end: int, **properties: object) -> Structure:
    """A relationship as Bolt 5 sends it."""
    return Structure(b"R", number, start, end, kind, properties, f"5:x:{number}", f"4:x:{start}", f"4:x:{end}")
