"""Started web servers that are talked to byte by byte."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from tests.mcp_bridge.conftest import TestHub, TestSite, hub, operator, start_site, stop_site

__all__ = ["hub", "operator"]
PATIENCE_S = 60
METRICS_TOKEN = "m" * 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A web server's port, for requests that no HTTP library would send."""

    site: TestSite

    @property
    def port(self) -> int:
        return int(urlsplit(self.site.url).port or 0)

    def connect(self, *, peer: str = "127.0.0.1") -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S, source_address=(peer, 0))

    def send(self, *lines: str, body: bytes = b"", peer: str = "127.0.0.1") -> Answer:
        """Send lines, that the connection ends, and an empty one, each with CRLF, then the body; gives the answer."""
        return self.send_bytes("\r\n".join([*lines, "Connection: close", "", ""]).encode() + body, peer=peer)

    def send_bytes(self, request: bytes, *, peer: str = "127.0.0.1") -> Answer:
        with self.connect(peer=peer) as connection:
            connection.sendall(request)
            return read_answer(connection)

    def get(self, path: str, *headers: str, peer: str = "127.0.0.1") -> Answer:
        return self.send(f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *headers, peer=peer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A status (0: the connection was closed without an answer), headers in lower case, and the body."""

    status: int
    headers: dict[str, str]
    body: bytes


def read_answer(connection: socket.socket) -> Answer:
    """Read one answer; its end is where its length says, or where the server closes."""
    with connection.makefile("rb") as stream:
        try:
            first = stream.readline()
            if not first:
                return Answer(status=0, headers={}, body=b"")
            lines = iter(lambda: stream.readline().decode("latin-1").strip(), "")
            headers = {name.lower(): value.strip() for name, _colon, value in (line.partition(":") for line in lines)}
            body = stream.read(int(headers["content-length"])) if "content-length" in headers else stream.read()
        except ConnectionResetError:
            return Answer(status=0, headers={}, body=b"")
    return Answer(status=int(first.split()[1]), headers=headers, body=body)


def bearer(site: TestSite, owner: str = "admin") -> str:
    return f"Authorization: Bearer {site.hub.tokens[owner]}"


@pytest.fixture(scope="module")
def wire(hub: TestHub) -> Iterator[Wire]:
    """A server that waits two seconds for what is being sent, and trusts no proxy."""
    site = start_site(hub, HUB_BODY_TIMEOUT_S="2", HUB_RATE_LIMIT_PER_MINUTE="100000")
    yield Wire(site=site)
    stop_site(site)


@pytest.fixture(scope="module")
def proxied(hub: TestHub) -> Iterator[Wire]:
    """A server behind proxies at 127.0.0.2 and in 10.0.0.0/8, with a token for its metrics and narrow limits."""
    site = start_site(
        hub,
        HUB_TRUSTED_PROXIES="127.0.0.2,10.0.0.0/8",
        HUB_METRICS_TOKEN=METRICS_TOKEN,
        HUB_RATE_LIMIT_PER_MINUTE="50",
        HUB_MAX_CONNECTIONS="40",
        HUB_MAX_CONNECTIONS_PER_ADDRESS="10",
    )
    yield Wire(site=site)
    stop_site(site)
