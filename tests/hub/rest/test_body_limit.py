from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.handlers.asgi import ASGIHandler

from hub.core.temporary import temp_dir, temp_root
from hub.rest.body_limit import FORM_OVERHEAD_BYTES, BodyLimit
from tests.hub.rest.conftest import Caller

LIMIT = 1024
BOUNDARY = "0f1e"
_DJANGO: Any = ASGIHandler()  # its own annotations are narrower than what ASGI says


@pytest.fixture(autouse=True)
def small_limit(settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_max_upload_bytes": LIMIT})


class Exchange:
    """One ASGI request sent in pieces, and what came back."""

    def __init__(self, pieces: Iterable[bytes], headers: dict[str, str]) -> None:
        self.unread = list(pieces)
        self.sent: list[dict[str, Any]] = []
        self.scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/api/v1/files",
            "raw_path": b"/api/v1/files",
            "query_string": b"\xff",
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 50000),
            "server": ("testserver", 80),
        }

    async def receive(self):
        if not self.unread:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": self.unread.pop(0), "more_body": bool(self.unread)}

    async def send(self, message) -> None:
        self.sent.append(message)

    def run(self) -> tuple[int, dict[str, str], dict]:
        application: Any = BodyLimit(_DJANGO)
        async_to_sync(application)(self.scope, self.receive, self.send)
        start, body = self.sent
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return start["status"], headers, json.loads(body["body"])


def test_a_browser_that_sends_too_much_gets_a_page_with_a_way_back():
    sent = {"Content-Length": str(10**12), "Accept": "text/html,*/*;q=0.8", "Accept-Language": "ja"}
    exchange = Exchange([b""], sent)
    exchange.scope["path"] = "/documents/upload/files/"
    async_to_sync(BodyLimit(_DJANGO))(exchange.scope, exchange.receive, exchange.send)
    start, body = exchange.sent
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    page = body["body"].decode()
    assert start["status"] == 413
    assert headers["content-type"].startswith("text/html")
    assert "style-src 'self'" in headers["content-security-policy"]
    assert "HUB_MAX_UPLOAD_BYTES" in page
    assert '<a class="button" href="/">ホームへ</a>' in page
    assert headers["x-request-id"] in page


def assert_refused(exchange: Exchange) -> dict[str, str]:
    status, headers, problem = exchange.run()
    assert (status, problem["code"]) == (413, "upload_too_large")
    assert "HUB_MAX_UPLOAD_BYTES" in problem["detail"]
    assert headers["content-type"] == "application/problem+json"
    assert headers["x-request-id"] == problem["request_id"]
    return headers


def test_a_claimed_length_of_ten_gigabytes_is_refused_before_anything_is_read():
    exchange = Exchange([b"x" * 100] * 3, {"Content-Length": str(10 * 1024**3), "Accept-Language": "en"})

    headers = assert_refused(exchange)

    assert len(exchange.unread) == 3
    assert headers["content-language"] == "en"
    assert headers["connection"] == "close"


def test_a_body_that_does_not_tell_its_length_is_cut_off_at_the_limit():
    pieces = [b"x" * 100_000] * 40
    exchange = Exchange(pieces, {"Transfer-Encoding": "chunked"})

    assert_refused(exchange)

    assert len(exchange.unread) >= 40 - (LIMIT + FORM_OVERHEAD_BYTES) // 100_000 - 1


@pytest.mark.django_db(transaction=True)  # the handler closes the thread's connection when a request begins
def test_a_file_below_the_limit_goes_through(caller: Caller):
    body = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n'
        f"Content-Type: text/markdown\r\n\r\n基本設計書\r\n--{BOUNDARY}--\r\n"
    ).encode()
    headers = {
        **caller.headers,
        "Host": "testserver",
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "Content-Length": str(len(body)),
    }
    exchange = Exchange([body[:50], body[50:]], headers)
    exchange.scope["query_string"] = b""
    hold_open(exchange)

    status, _headers, answer = exchange.run()

    assert (status, answer["size"]) == (200, 15)


def hold_open(exchange: Exchange) -> None:
    """Let the client stay connected until it has its answer, as real ones do."""
    receive = exchange.receive

    async def waiting_receive():
        if not exchange.unread:
            await asyncio.Event().wait()
        return await receive()

    exchange.receive = waiting_receive  # type: ignore[method-assign]  # of this one exchange


def test_the_temporary_folder_is_there_before_the_first_upload():
    BodyLimit(_DJANGO)

    assert temp_dir().is_dir()
    assert temp_dir().parent == temp_root()


@pytest.mark.parametrize(("path", "query"), [("/admin/x\x00/change/", b""), ("/api/v1/documents", b"q=%00")])
def test_an_address_with_a_nul_character_is_refused_before_anything_reads_it(path: str, query: bytes) -> None:
    exchange = Exchange([b""], {})
    exchange.scope |= {"path": path, "raw_path": b"/", "query_string": query}
    status, _headers, body = exchange.run()
    assert (status, body["code"]) == (400, "nul")
