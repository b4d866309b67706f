"""Heads that can be read in two ways are refused at every door, before anybody reads them in either."""

from __future__ import annotations

import json

import pytest

from tests.hub.site.conftest import Wire, bearer

PATHS = ("/api/v1/collections", "/mcp/core/", "/admin/login/")
TWICE = (
    ("Origin: https://evil.example", "Origin: http://127.0.0.1"),
    ("Content-Type: application/json", "Content-Type: text/plain"),
    ("Idempotency-Key: a", "Idempotency-Key: b"),
    ("X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 198.51.100.2"),
    ("X-Forwarded-Proto: http", "X-Forwarded-Proto: https"),
    ("X-Forwarded-Host: a.example", "X-Forwarded-Host: b.example"),
    ("Authorization: Bearer hub_a", "Authorization: Bearer hub_b"),
    ("Content-Length: 2", "Content-Length: 2"),
    ("Mcp-Session-Id: a", "Mcp-Session-Id: b"),
)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("twice", TWICE, ids=lambda pair: pair[0].partition(":")[0])
def test_a_header_that_is_there_twice_is_refused(wire: Wire, path: str, twice: tuple[str, str]):
    name = twice[0].partition(":")[0].lower()
    known = [] if name == "authorization" else [bearer(wire.site)]
    answer = wire.send(f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{wire.port}", *known, *twice, body=b"{}")
    assert answer.status == 400
    if name != "content-length":  # refused by the parser, which does not say which header it was
        told = json.loads(answer.body)
        assert name in (told["error"]["message"] if path.startswith("/mcp/") else told["detail"])


@pytest.mark.parametrize("path", PATHS)
def test_two_hosts_are_refused(wire: Wire, path: str):
    answer = wire.send(f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{wire.port}", "Host: evil.example")
    assert answer.status == 400


@pytest.mark.parametrize("path", PATHS)
def test_a_body_with_two_kinds_of_length_is_refused_and_the_connection_ended(wire: Wire, path: str):
    answer = wire.send(
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{wire.port}",
        bearer(wire.site),
        "Content-Type: application/json",
        "Content-Length: 4",
        "Transfer-Encoding: chunked",
        body=b"2\r\n{}\r\n0\r\n\r\n",
    )
    assert (answer.status, answer.headers["connection"]) == (400, "close")


LENIENT = {
    "folded": "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Note: a\r\n b\r\n\r\n",
    "folded by a tab": "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Note: a\r\n\tb\r\n\r\n",
    "bare line feeds": "GET {path} HTTP/1.1\nHost: {host}\n\n",
    "one bare line feed": "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Note: a\nX-Other: b\r\n\r\n",
    "one length written twice": "GET {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0, 0\r\n\r\n",
    "a bare line feed at the end": "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Note: a\r\n\n",
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", LENIENT)
def test_lines_that_only_lenient_readers_take_are_refused(wire: Wire, path: str, kind: str):
    request = LENIENT[kind].format(path=path, host=f"127.0.0.1:{wire.port}").encode()
    assert wire.send_bytes(request).status == 400


def test_a_second_head_behind_the_first_one_is_looked_at_as_strictly(wire: Wire):
    host = f"127.0.0.1:{wire.port}"
    first = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"
    second = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-Note: a\n\r\n"
    with wire.connect() as connection:
        connection.sendall((first + second).encode())
        answers = b""
        while piece := connection.recv(4096):
            answers += piece
    assert answers.count(b"HTTP/1.1 200 ") == 1
    assert answers.count(b"HTTP/1.1 400 ") == 1


def test_what_clients_send_every_day_is_read_as_before(wire: Wire):
    for path, status in (("/api/v1/collections", 200), ("/admin/login/", 200), ("/healthz", 200)):
        headers = (bearer(wire.site), "Accept: text/html", "Accept: */*", "Cookie: a=1", "Cookie: b=2", "X-Empty:")
        assert wire.get(path, *headers).status == status


@pytest.mark.parametrize("origin", ["http://localhost:5173", "http://127.0.0.1"])
def test_rest_and_mcp_let_in_the_same_origins(wire: Wire, origin: str):
    assert wire.get("/api/v1/collections", bearer(wire.site), f"Origin: {origin}").status == 200
    assert wire.get("/mcp/core/", bearer(wire.site), f"Origin: {origin}", "Accept: text/html").status == 406


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost@evil.example", "http://[::1", "http://127.0.0.1@x"]
)
def test_rest_and_mcp_refuse_the_same_origins(wire: Wire, origin: str):
    for path in ("/api/v1/collections", "/mcp/core/"):
        assert wire.get(path, bearer(wire.site), f"Origin: {origin}").status == 403
