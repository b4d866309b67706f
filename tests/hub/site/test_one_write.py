"""The head of an answer leaves together with the first of its body."""

from __future__ import annotations

import asyncio

from hub.site.server_protocol import OneWrite

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"


class Wire(asyncio.Transport):
    """What a transport was given, piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.is_closed
        self.written.append(bytes(data))

    def close(self) -> None:
        self.is_closed = True


def test_a_head_and_the_first_of_its_body_are_one_write_and_the_rest_are_their_own():
    async def answer() -> list[bytes]:
        transport = OneWrite(wire := Wire(), asyncio.get_running_loop())
        for piece in (HEAD, b"ok", b"more", b"", HEAD, b"no"):
            transport.write(piece)
        await asyncio.sleep(0)
        return wire.written

    assert asyncio.run(answer()) == [HEAD + b"ok", b"more", b"", HEAD + b"no"]


def test_a_head_without_a_body_yet_leaves_when_the_loop_comes_round():
    async def answer() -> tuple[list[bytes], list[bytes]]:
        transport = OneWrite(wire := Wire(), asyncio.get_running_loop())
        transport.write(HEAD)
        at_once = list(wire.written)
        await asyncio.sleep(0)
        transport.write(b"event")
        return at_once, wire.written

    assert asyncio.run(answer()) == ([], [HEAD, b"event"])


def test_a_head_leaves_before_its_connection_is_closed():
    async def answer() -> list[bytes]:
        transport = OneWrite(wire := Wire(), asyncio.get_running_loop())
        transport.write(HEAD)
        transport.close()
        await asyncio.sleep(0)
        return wire.written

    assert asyncio.run(answer()) == [HEAD]
