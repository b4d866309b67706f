"""The plain HTTP client of the benchmark of runtimes."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.runtimes.wire import Answer, ask, request

HEAD = b"HTTP/1.1 200 OK\r\nX-Name: value\r\n"


async def _answer_of(sent: bytes) -> Answer:
    """Ask a server that sends these bytes to whatever it is asked, and closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        return await ask(server.sockets[0].getsockname()[1], request("GET", "/"))
    finally:
        server.close()


@pytest.mark.parametrize(
    ("rest", "body"),
    [
        (b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", b"hello"),
        (b"\r\nhello", b"hello"),
    ],
)
def test_a_body_is_read_by_its_length_by_its_chunks_or_up_to_the_end(rest: bytes, body: bytes):
    answer = asyncio.run(_answer_of(HEAD + rest))
    assert (answer.status, answer.headers["x-name"], answer.body) == (200, "value", body)


@pytest.mark.parametrize("sent", [b"", HEAD + b"Content-Length: 5\r\n\r\nhel"])
def test_an_answer_that_is_cut_off_counts_as_none(sent: bytes):
    assert asyncio.run(_answer_of(sent)).status == 0


def test_a_request_has_its_body_as_json_with_its_length():
    sent = request("POST", "/a", body={"b": 1}, Accept_Language="ja")
    assert sent.startswith(b"POST /a HTTP/1.1\r\n")
    assert b"\r\nAccept-Language: ja\r\n" in sent
    assert sent.endswith(b'Content-Length: 8\r\n\r\n{"b": 1}')
