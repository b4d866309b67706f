"""OpenAI's client, held to what the hub promises of servers."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hub.core.model_servers import AnswerTooLong, ModelServer, RequestRefused, ServerAway, ServerTimeout
from hub.core.waiting import Stop, Stopped, stoppable_by

MOST_BYTES = 10_000


class RawServer(ThreadingHTTPServer):
    """Answers each request with the same bytes, piece by piece."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = [b"{}"]
        self.is_closing = threading.Event()
        self.hangs = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are part of it."""


class _Handler(BaseHTTPRequestHandler):
    server: RawServer

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in self.server.pieces:
            self.wfile.write(piece)
        if self.server.hangs:
            self.server.is_closing.wait(60)

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def raw() -> Iterator[RawServer]:
    with RawServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.is_closing.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def asked(raw: RawServer) -> Iterator[ModelServer]:
    with closing(ModelServer(f"http://127.0.0.1:{raw.server_port}/v1", most_bytes=MOST_BYTES)) as server:
        yield server


def test_an_answer_is_returned_whole(raw, asked):
    raw.pieces = [b'{"data": ', b"[1, 2]}"]
    assert asked.ask("/embeddings", {"input": "文"}, timeout_s=20).json() == {"data": [1, 2]}


@pytest.mark.parametrize("status", [200, 400, 500])
def test_no_answer_is_read_beyond_its_size(raw, asked, status):
    raw.status, raw.pieces = status, [b"x" * 6000] * 2
    with pytest.raises(AnswerTooLong):
        asked.ask("/embeddings", {}, timeout_s=20)


def test_a_compressed_answer_is_not_unpacked(raw, asked):
    raw.headers, raw.pieces = {"Content-Encoding": "gzip"}, [gzip.compress(b" " * 10**7)]
    with pytest.raises(ServerAway, match="DecodingError"):
        asked.ask("/embeddings", {}, timeout_s=20)


@pytest.mark.parametrize("status", [200, 400])
def test_an_answer_that_stops_coming_is_late(raw, asked, status):
    raw.status, raw.hangs = status, True
    with pytest.raises(ServerTimeout, match="ReadTimeout"):
        asked.ask("/embeddings", {}, timeout_s=0.3)


def test_work_that_nobody_waits_for_ends(raw, asked):
    stop = Stop()
    stop.set()
    with stoppable_by(stop), pytest.raises(Stopped):
        asked.ask("/embeddings", {}, timeout_s=20)


def test_another_address_is_not_followed(raw, asked):
    raw.status, raw.headers = 307, {"Location": "http://127.0.0.1:9/elsewhere"}
    with pytest.raises(RequestRefused) as caught:
        asked.ask("/embeddings", {}, timeout_s=20)
    assert (caught.value.status, caught.value.is_about_key, caught.value.reason) == (307, False, "")


@pytest.mark.parametrize(("status", "is_about_key"), [(401, True), (403, True), (400, False), (404, False)])
def test_refusals_say_whether_they_are_about_the_key(raw, asked, status, is_about_key):
    raw.status, raw.pieces = status, [b'{"error": {"message": "' + b"n" * 300 + b'"}}']
    with pytest.raises(RequestRefused) as caught:
        asked.ask("/embeddings", {}, timeout_s=20)
    assert caught.value.is_about_key is is_about_key
    assert caught.value.reason == "n" * 200


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_by_the_caller_alone(raw, asked, status):
    raw.status, raw.headers = status, {"Retry-After": "7"}
    with pytest.raises(ServerAway) as caught:
        asked.ask("/embeddings", {}, timeout_s=20)
    assert (caught.value.failure, caught.value.retry_after_s) == (f"HTTP {status}", 7.0)


def test_a_closed_server_is_asked_through_new_connections(raw, asked):
    asked.ask("/embeddings", {}, timeout_s=20)
    asked.close()
    assert asked.ask("/embeddings", {}, timeout_s=20).json() == {}
