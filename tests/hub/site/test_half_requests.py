"""Requests that are begun and not ended, and connections without number."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack, suppress

import pytest

from tests.hub.site.conftest import Wire, bearer, read_answer

MANY = 300
BEGINNINGS = (
    b"",
    b"GET /api/v1/coll",
    b"GET /api/v1/collections HTTP/1.1\r\nHost: localhost\r\n",
    b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{",
    b"POST /mcp/core/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    b"POST /admin/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nusername=",
)


def is_closed(connection: socket.socket) -> bool:
    """Whether the server ends the connection within the socket's patience, after whatever it says."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


def test_three_hundred_half_requests_are_closed_while_neighbours_are_answered(wire: Wire):
    with ExitStack() as open_ones:
        halves = [open_ones.enter_context(wire.connect()) for _number in range(MANY)]
        for number, half in enumerate(halves):
            half.settimeout(20)
            half.sendall(BEGINNINGS[number % len(BEGINNINGS)])
        assert wire.get("/api/v1/collections", bearer(wire.site)).status == 200
        assert wire.get("/mcp/core/", bearer(wire.site), "Accept: text/html").status == 406
        assert [number for number, half in enumerate(halves) if not is_closed(half)] == []


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_half_request_is_answered_with_408_that_names_the_setting(wire: Wire, beginning: bytes):
    with wire.connect() as half:
        half.settimeout(20)
        half.sendall(beginning)
        answer = read_answer(half)
    if b"Transfer-Encoding" in beginning:  # without a token nothing of its body is read
        assert answer.status == 401
        return
    assert (answer.status, answer.headers["connection"]) == (408, "close")
    assert b"HUB_BODY_TIMEOUT_S" in answer.body


def test_a_second_request_on_a_kept_connection_is_not_waited_for_either(wire: Wire):
    with wire.connect() as kept:
        kept.settimeout(20)
        kept.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{wire.port}\r\n\r\n".encode())
        assert read_answer(kept).status == 200
        kept.sendall(b"GET /healthz HTT")
        assert read_answer(kept).status == 408


def test_a_slow_upload_that_goes_on_is_taken_in(wire: Wire):
    """Twice as long on its way as the limit, at twice the least rate; the pauses are what is tested."""
    text = ("# 遅い回線\n\n" + "少しずつ届く本文。\n" * 300).encode()
    boundary = "0f1e"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.md"\r\n\r\n'.encode()
    body = head + text + f"\r\n--{boundary}--\r\n".encode()
    with wire.connect() as slow:
        slow.sendall(
            "\r\n".join(
                [
                    "POST /api/v1/documents HTTP/1.1",
                    f"Host: 127.0.0.1:{wire.port}",
                    bearer(wire.site),
                    f"Content-Type: multipart/form-data; boundary={boundary}",
                    f"Content-Length: {len(body)}",
                    "",
                    "",
                ]
            ).encode()
        )
        pause = threading.Event()
        for start in range(0, len(body), 500):
            slow.sendall(body[start : start + 500])
            pause.wait(0.3)
        assert read_answer(slow).status == 202


def test_a_body_of_single_bytes_is_not_waited_for(wire: Wire):
    with wire.connect() as slow:
        slow.sendall(
            f"POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1:{wire.port}\r\n{bearer(wire.site)}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n".encode()
        )
        pause, sent = threading.Event(), 0
        slow.settimeout(0.2)
        answer = b""
        while not answer and sent < 60:
            slow.sendall(b" ")
            sent += 1
            try:
                answer = slow.recv(4096)
            except TimeoutError:
                pause.wait(0.05)
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_more_connections_than_one_address_may_have_are_refused_and_others_are_answered(proxied: Wire):
    with ExitStack() as open_ones:
        held = [open_ones.enter_context(proxied.connect(peer="127.0.0.5")) for _number in range(10)]
        for one in held:
            one.sendall(b"GET /heal")
        refused = proxied.get("/healthz", peer="127.0.0.5")
        assert refused.status in {0, 503}  # 0: what was sent crossed the answer
        assert proxied.get("/healthz", peer="127.0.0.6").status == 200
    with proxied.connect(peer="127.0.0.5") as again:
        again.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{proxied.port}\r\n\r\n".encode())
        assert read_answer(again).status == 200


def test_a_refused_connection_is_told_which_setting_refuses_it(proxied: Wire):
    with ExitStack() as open_ones:
        for _number in range(10):
            open_ones.enter_context(proxied.connect(peer="127.0.0.7")).sendall(b"GET /heal")
        with proxied.connect(peer="127.0.0.7") as refused:
            answer = read_answer(refused)
    assert (answer.status, answer.headers["connection"]) == (503, "close")
    assert b"HUB_MAX_CONNECTIONS_PER_ADDRESS" in answer.body
    assert int(answer.headers["retry-after"]) > 0


def test_a_named_proxy_may_bring_more_and_all_together_have_a_limit(proxied: Wire):
    request = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{proxied.port}\r\n\r\n".encode()
    with ExitStack() as open_ones:
        answers = []
        for _number in range(41):  # fewer fit while those of an earlier test are still being closed
            kept = open_ones.enter_context(proxied.connect(peer="127.0.0.2"))
            with suppress(ConnectionError):  # what was sent crossed the answer
                kept.sendall(request)
            answers.append(read_answer(kept))
    statuses = [answer.status for answer in answers]
    assert statuses.count(200) > 10
    assert statuses[-1] in {0, 503}
    assert all(b"HUB_MAX_CONNECTIONS)" in answer.body for answer in answers if answer.status == 503)
