"""Servers that speak OpenAI's protocol, asked with OpenAI's client.

The client is held to the hub's promises: nothing of the environment (OPENAI_*) or about this machine is sent, an answer
is bounded in bytes and, as a whole, in time, and work that nobody waits for ends. What fails is one of four errors;
trying again is the caller's (`hub.core.retries`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import httpx2

from hub.core.per_process import PerProcess
from hub.core.retries import read_retry_after
from hub.core.stopping import raise_if_stopped

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

CONNECT_TIMEOUT_S = 5.0
MAX_CONNECTIONS = 64
REFUSED_KEY = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
TAIL_BYTES = 64
MAX_REASON_CHARS = 200


class ServerAway(Exception):
    """The server may answer another time: it is not there, broke off, or said 429 or 5xx. ``failure`` names it."""

    def __init__(self, failure: str, *, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(failure)
        self.failure = failure
        self.status = status
        self.retry_after_s = retry_after_s


class ServerTimeout(ServerAway):
    """The server took the request, and its whole answer did not come in time."""


class RequestRefused(Exception):
    """The server refused the request or, with ``is_about_key``, the API key. ``reason`` is what its error body says."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.reason = reason
        self.is_about_key = status in REFUSED_KEY


class AnswerTooLong(Exception):
    """The answer has more bytes than the longest one that is wanted."""


class ModelServer:
    """A server by the URL that ``/chat/completions`` or ``/embeddings`` is added to. Nothing is opened before use."""

    def __init__(self, base_url: str, *, api_key: str = "", most_bytes: int) -> None:
        """Give up answers, and error bodies, of more than ``most_bytes``."""
        self.url = base_url.rstrip("/")
        self._api_key = api_key
        self._most_bytes = most_bytes
        self._client = PerProcess(self._open)

    @property
    def client(self) -> OpenAI:
        """This process's client. Calls belong inside `failures`, with the timeout that `timeout` makes."""
        return self._client.get()

    def get(self, path: str, *, timeout_s: float) -> httpx2.Response:
        """Return the successful answer to a GET. :raises ServerAway, RequestRefused, AnswerTooLong: see there."""
        with failures():
            return self.client.get(path, cast_to=httpx2.Response, options={"timeout": timeout(timeout_s)})

    def post(self, path: str, body: Mapping[str, object], *, timeout_s: float) -> httpx2.Response:
        """Return the successful answer to a POST. :raises ServerAway, RequestRefused, AnswerTooLong: see there."""
        with failures():
            return self.client.post(path, body=body, cast_to=httpx2.Response, options={"timeout": timeout(timeout_s)})

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        for client in self._client.take():
            client.close()

    def _open(self) -> OpenAI:
        from openai import OpenAI  # 0.5 s and 30 MB that processes which ask no server need not pay

        logging.getLogger("openai").setLevel(logging.WARNING)  # OPENAI_LOG=debug would write requests to the log
        connections = httpx2.Client(
            timeout=timeout(CONNECT_TIMEOUT_S),
            limits=httpx2.Limits(max_connections=MAX_CONNECTIONS),
            event_hooks={"request": [self._prepare], "response": [self._bound]},
        )
        return OpenAI(api_key=self._api_key or "none", base_url=self.url, max_retries=0, http_client=connections)

    def _prepare(self, request: httpx2.Request) -> None:
        """Send these headers alone: the client's own describe the machine and repeat OPENAI_* variables."""
        headers = {"Host": request.url.netloc.decode("ascii"), "Accept": "*/*", "Accept-Encoding": "identity"}
        headers |= {"Connection": "keep-alive", "User-Agent": "hub"}
        headers |= {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        if length := request.headers.get("Content-Length"):
            headers |= {"Content-Type": "application/json", "Content-Length": length}
        request.headers = httpx2.Headers(headers)
        request.extensions["deadline"] = time.monotonic() + request.extensions["timeout"]["read"]

    def _bound(self, response: httpx2.Response) -> None:
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise httpx2.DecodingError("the answer is compressed, unasked", request=response.request)
        response.stream = BoundedStream(response, most_bytes=self._most_bytes)


class BoundedStream(httpx2.SyncByteStream):
    """A body as it comes, up to a size and to the request's deadline. ``tail`` has its last bytes so far."""

    def __init__(self, response: httpx2.Response, *, most_bytes: int) -> None:
        self.tail = b""
        self._stream = cast(httpx2.SyncByteStream, response.stream)
        self._request = response.request
        self._left = most_bytes

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            raise_if_stopped()
            self._left -= len(piece)
            if self._left < 0:
                raise AnswerTooLong
            if time.monotonic() > self._request.extensions["deadline"]:
                raise httpx2.ReadTimeout("the whole answer took too long", request=self._request)
            self.tail = (self.tail + piece)[-TAIL_BYTES:]
            yield piece

    def close(self) -> None:
        self._stream.close()


def timeout(seconds: float) -> httpx2.Timeout:
    """Return the limits of one request: so long for the whole answer, and at most 5 s for the connection."""
    return httpx2.Timeout(max(seconds, 0.001), connect=CONNECT_TIMEOUT_S)


@contextmanager
def failures() -> Iterator[None]:
    """Raise what the client raises inside of the block as ServerAway, ServerTimeout or RequestRefused."""
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        raise _of_status(error) from error
    except (openai.APIConnectionError, httpx2.RequestError) as error:
        cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
        is_late = isinstance(cause, httpx2.TimeoutException)
        is_late = is_late and not isinstance(cause, httpx2.ConnectTimeout | httpx2.PoolTimeout)
        raise (ServerTimeout if is_late else ServerAway)(type(cause).__name__) from error
    except openai.APIError as error:  # an event of a stream says that it failed
        raise ServerAway(type(error).__name__) from error


def _of_status(error: APIStatusError) -> ServerAway | RequestRefused:
    status, headers = error.status_code, error.response.headers
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerAway(f"HTTP {status}", status=status, retry_after_s=read_retry_after(headers.get("Retry-After")))
    reason = error.body.get("message") if isinstance(error.body, dict) else None
    return RequestRefused(status, str(reason or "")[:MAX_REASON_CHARS])
