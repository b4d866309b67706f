"""A connection that does not wait for ever: uvicorn's, with time-outs for what is being sent and a count of them all.

uvicorn itself ends idle connections only. One that sends half a head, or half a body, would be held for as long as its
client likes, before any of the hub's own code hears of it. Heads must be such that every reader reads them alike: a
lenient reader behind a proxy may see another request.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast
from weakref import WeakKeyDictionary

import h11
from django.conf import settings
from h11._receivebuffer import ReceiveBuffer
from h11._util import LocalProtocolError
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from hub.core.client_address import Networks
from hub.core.measures import REFUSED_CONNECTIONS


@dataclass(slots=True, kw_only=True)
class Crowd:
    """The open connections of a server by the address of their peer; ``proxies`` bring those of many clients."""

    most: int
    most_per_address: int
    proxies: Networks
    _all: int = field(default=0)
    _by_address: Counter[str] = field(default_factory=Counter)

    def admit(self, address: str) -> str | None:
        """Count a connection that was made; else give which setting's limit is reached."""
        if self._all >= self.most:
            return "HUB_MAX_CONNECTIONS"
        if self._by_address[address] >= self.most_per_address and address not in self.proxies:
            return "HUB_MAX_CONNECTIONS_PER_ADDRESS"
        self._all += 1
        self._by_address[address] += 1
        return None

    def leave(self, address: str) -> None:
        """Forget a connection that was admitted."""
        self._all -= 1
        self._by_address[address] -= 1
        if self._by_address[address] <= 0:
            del self._by_address[address]


LENGTH = b"content-length:"


class StrictHeads(ReceiveBuffer):
    """h11's buffer of received bytes, less lenient: no bare line feeds, no folded lines, no length said twice."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Give the lines of a whole head, or of trailers; None until all of it is there.

        :raises LocalProtocolError: a line ends without CR, or begins with a blank (obs-fold), or there are two
            lengths; h11 makes it a 400.
        """
        held = len(self)
        lines: list[bytearray] | None = super().maybe_extract_lines()
        if lines is None:
            return None
        if held - len(self) != sum(len(line) + 2 for line in lines) + 2:  # each line and the empty one end with CRLF
            raise LocalProtocolError("a line of the head ends without CR")
        if any(line.startswith((b" ", b"\t")) for line in lines):
            raise LocalProtocolError("a header goes on in the next line")
        lengths = [line for line in lines if line[: len(LENGTH)].lower() == LENGTH]
        if len(lengths) > 1 or any(b"," in line for line in lengths):
            raise LocalProtocolError("the length of the body is there more than once")
        return lines


logger = logging.getLogger(__name__)

# What Apache's mod_reqtimeout asks of a body (MinRate=500): the slowest modems send seven times as much.
LEAST_BYTES_PER_S = 500
RETRY_AFTER_S = 5

_crowds: WeakKeyDictionary[ServerState, Crowd] = WeakKeyDictionary()


def _crowd_of(server: ServerState) -> Crowd:
    if server not in _crowds:
        config = settings.CONFIG
        _crowds[server] = Crowd(
            most=config.hub_max_connections,
            most_per_address=config.hub_max_connections_per_address,
            proxies=config.hub_trusted_proxies,
        )
    return _crowds[server]


class OneWrite:
    """A transport that sends the head of an answer together with what is written next, or at once if nothing is."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever a transport has)
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send it, or keep it for a moment when it is a head."""
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(b"HTTP/"):
            self._head = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def close(self) -> None:
        """Close the connection, after all that was written."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)


class GuardedProtocol(H11Protocol):
    """Serves one connection.

    A head must be complete within HUB_BODY_TIMEOUT_S of its first byte (of the connection, for the first one). Of a
    body 500 bytes a second must arrive, counted over each HUB_BODY_TIMEOUT_S, unless it is the hub that does not read.
    Else the answer is 408 and the connection is closed. One connection more than HUB_MAX_CONNECTIONS, or than
    HUB_MAX_CONNECTIONS_PER_ADDRESS from one peer that is no proxy of ours, is answered with 503 and closed at once.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn._receive_buffer = StrictHeads()  # h11 has no public way to it
        self._crowd = _crowd_of(server_state)
        self._address = ""
        self._is_admitted = False
        self._timeout_s: float = settings.CONFIG.hub_body_timeout_s
        self._head_timer: asyncio.TimerHandle | None = None
        self._body_timer: asyncio.TimerHandle | None = None
        self._received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self.transport = cast(asyncio.Transport, OneWrite(transport, self.loop))
        self._address = self.client[0] if self.client else ""
        reached = self._crowd.admit(self._address)
        if reached is None:
            self._is_admitted = True
            self._head_timer = self.loop.call_later(self._timeout_s, self._end_head)
            return
        REFUSED_CONNECTIONS.labels(reached).inc()
        logger.info("refused a connection of %s: %s is reached", self._address, reached)
        self._end_with(HTTPStatus.SERVICE_UNAVAILABLE, f"Too many open connections ({reached}). Try again later.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._is_admitted:
            self._is_admitted = False
            self._crowd.leave(self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()  # the next request may have begun to arrive behind the last one

    def _watch(self) -> None:
        """Wait for what is not complete yet, and for that only."""
        if self.transport.is_closing():
            self._stop_waiting()
            return
        state = self.conn.their_state
        is_head_begun = state is h11.IDLE and bool(self.conn._receive_buffer)
        if self._head_timer is not None and not is_head_begun:
            self._head_timer.cancel()
            self._head_timer = None
        elif self._head_timer is None and is_head_begun:
            self._head_timer = self.loop.call_later(self._timeout_s, self._end_head)
        if self._body_timer is not None and state is not h11.SEND_BODY:
            self._body_timer.cancel()
            self._body_timer = None
        elif self._body_timer is None and state is h11.SEND_BODY:
            self._wait_for_body()

    def _stop_waiting(self) -> None:
        for timer in (self._head_timer, self._body_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = self._body_timer = None

    def _end_head(self) -> None:
        self._head_timer = None
        self._time_out("The head of the request")

    def _wait_for_body(self) -> None:
        self._received = 0
        self._body_timer = self.loop.call_later(self._timeout_s, self._judge_body)

    def _judge_body(self) -> None:
        self._body_timer = None
        # The client can't send while what came is not read yet, or while it waits for our 100 Continue.
        is_our_turn = self.flow.read_paused or (self.cycle is not None and self.cycle.waiting_for_100_continue)
        if is_our_turn or self._received >= LEAST_BYTES_PER_S * self._timeout_s:
            self._wait_for_body()
        else:
            self._time_out("The body of the request")

    def _time_out(self, what: str) -> None:
        if not self.transport.is_closing():
            logger.info("gave up waiting for %s: %s did not arrive", self._address, what.lower())
            self._end_with(
                HTTPStatus.REQUEST_TIMEOUT,
                f"{what} did not arrive in time ({self._timeout_s:g} s, HUB_BODY_TIMEOUT_S).",
            )

    def _end_with(self, status: HTTPStatus, text: str) -> None:
        """Say why, unless an answer has begun, and close; the application sees a client that went away."""
        self._stop_waiting()
        under_way = self.cycle if self.cycle is not None and not self.cycle.response_complete else None
        has_answer = self.conn.their_state is h11.SEND_BODY and (under_way is None or under_way.response_started)
        if not has_answer:
            self.transport.write(_answer(status, text))
        if under_way is not None:
            under_way.disconnected = True
            under_way.message_event.set()
        self.transport.close()


def _answer(status: HTTPStatus, text: str) -> bytes:
    body = (text + "\n").encode()
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(body)}",
        f"Retry-After: {RETRY_AFTER_S}",
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
