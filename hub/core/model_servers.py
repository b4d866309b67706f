"""Servers that speak OpenAI's protocol, asked with OpenAI's client or, where that costs too much, without it.

Both use connections that are held to the hub's promises: nothing of the environment (OPENAI_*) or about this machine is
sent, an answer is bounded in bytes and, as a whole, in time, and work that nobody waits for ends. What fails is one of
four errors; trying again is the caller's (`hub.core.retries`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

import httpx2

from hub.core.processes import PerProcess
from hub.core.retries import read_retry_after
from hub.core.waiting import raise_if_stopped

if TYPE_CHECKING:
    from openai import OpenAI

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


def _reason(body: Any) -> object:  # noqa: ANN401 - any JSON
    return body["error"]["message"]


class ModelServer:
    """A server by the URL that ``/chat/completions`` or ``/embeddings`` is added to. Nothing is opened before use."""

    def __init__(
        self, base_url: str, *, api_key: str = "", most_bytes: int, reason_of: Callable[[Any], object] = _reason
    ) -> None:
        """Give up answers, and error bodies, of more than ``most_bytes``. ``reason_of`` finds the reason in a body."""
        self.url = base_url.rstrip("/")
        self._reason_of = reason_of
        self._api_key = api_key
        self._most_bytes = most_bytes
        self._connections = PerProcess(self._connect)
        self._client = PerProcess(self._open)

    @property
    def client(self) -> OpenAI:
        """This process's client. Calls belong inside `failures`, with the timeout that `timeout` makes."""
        return self._client.get()

    def ask(
        self, path: str, body: Mapping[str, object] | None = None, *, timeout_s: float, method: str = ""
    ) -> httpx2.Response:
        """Return the successful answer to a GET or, with a body, a POST, without the client (0.7 ms and its loading).

        :raises ServerAway, RequestRefused, AnswerTooLong: see there.
        """
        method = method or ("GET" if body is None else "POST")
        try:
            response = self._connections.get().request(method, self.url + path, json=body, timeout=timeout(timeout_s))
        except httpx2.RequestError as error:
            raise _of_connection(error) from error
        if not response.is_success:
            raise _of_status(response, self._reason_of)
        return response

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._client.take()
        for connections in self._connections.take():
            connections.close()

    def _open(self) -> OpenAI:
        from openai import OpenAI  # 0.5 s and 30 MB that processes which ask no language model need not pay

        logging.getLogger("openai").setLevel(logging.WARNING)  # OPENAI_LOG=debug would write requests to the log
        connections = self._connections.get()
        return OpenAI(api_key=self._api_key or "none", base_url=self.url, max_retries=0, http_client=connections)

    def _connect(self) -> httpx2.Client:
        return httpx2.Client(
            limits=httpx2.Limits(max_connections=MAX_CONNECTIONS),
            event_hooks={"request": [self._prepare], "response": [self._bound]},
        )

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
        raise _of_status(error.response) from error
    except openai.APIConnectionError as error:
        raise _of_connection(error.__cause__) from error
    except httpx2.RequestError as error:  # from an error body
        raise _of_connection(error) from error
    except openai.APIError as error:  # an event of a stream says that it failed
        raise ServerAway(type(error).__name__) from error


def _of_connection(error: BaseException | None) -> ServerAway:
    has_begun = not isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout)
    is_late = isinstance(error, httpx2.TimeoutException) and has_begun
    return (ServerTimeout if is_late else ServerAway)(type(error).__name__)


def _of_status(response: httpx2.Response, reason_of: Callable[[Any], object] = _reason) -> ServerAway | RequestRefused:
    status = response.status_code
    if status == HTTPStatus.TOO_MANY_REQUESTS or response.is_server_error:
        wait_s = read_retry_after(response.headers.get("Retry-After"))
        return ServerAway(f"HTTP {status}", status=status, retry_after_s=wait_s)
    try:
        reason = reason_of(response.json())
    except (ValueError, KeyError, TypeError):
        reason = ""
    return RequestRefused(status, str(reason)[:MAX_REASON_CHARS])
