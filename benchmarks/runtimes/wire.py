"""Plain HTTP over one connection, cheap enough that three hundred clients fit beside the server they measure."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

PATIENCE_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A status (0: closed without an answer, -1: nothing within the time), headers in lower case, body and seconds."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float


def request(method: str, path: str, *, body: Any = None, **headers: str) -> bytes:
    """Return the bytes of a request; underscores in the names of headers stand for hyphens."""
    content = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join([*lines, "", ""]).encode() + content


class Connection:
    """A connection to a server on this machine, kept for one request after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, port: int) -> Connection:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, sent: bytes, *, within_s: float = PATIENCE_S) -> Answer:
        """Send a request and read its answer."""
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(within_s):
                self.writer.write(sent)
                status, headers = await self.read_head()
                body = await self._read_body(headers)
        except TimeoutError:
            status, headers, body = -1, {}, b""
        except (ConnectionError, asyncio.IncompleteReadError):
            status, headers, body = 0, {}, b""
        return Answer(status=status, headers=headers, body=body, seconds=time.perf_counter() - begun)

    async def read_head(self) -> tuple[int, dict[str, str]]:
        """Read the head of an answer."""
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _colon, value in (line.partition(":") for line in lines)}
        return int(first.split()[1]), headers

    async def _read_body(self, headers: dict[str, str]) -> bytes:
        if "content-length" in headers:
            return await self.reader.readexactly(int(headers["content-length"]))
        if headers.get("transfer-encoding") != "chunked":
            return await self.reader.read()
        parts = []
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            parts.append((await self.reader.readexactly(size + 2))[:-2])
        await self.reader.readexactly(2)
        return b"".join(parts)

    def close(self) -> None:
        self.writer.close()


async def ask(port: int, sent: bytes, *, within_s: float = PATIENCE_S) -> Answer:
    """Send a request over a connection of its own."""
    try:
        connection = await Connection.open(port)
    except OSError:
        return Answer(status=0, headers={}, body=b"", seconds=0)
    try:
        return await connection.ask(sent, within_s=within_s)
    finally:
        connection.close()
