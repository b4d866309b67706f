"""Ending requests in order when the server is asked to stop: streams would otherwise hold it up for ever."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import anyio

from hub.core.asgi import AsgiApp, Message, Receive, Scope, Send

STREAMS_S = 0.5
ALL_S = 2.0


@dataclass(eq=False, slots=True, kw_only=True)
class _OpenRequest:
    """A request that is being answered, and how far the answer has come."""

    method: str
    send: Send
    cancelling: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    is_started: bool = False
    is_stream: bool = False
    is_complete: bool = False

    async def watch(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.is_started = True
            types = [value for name, value in message.get("headers", ()) if name.lower() == b"content-type"]
            self.is_stream = any(value.startswith(b"text/event-stream") for value in types)
        elif message["type"] == "http.response.body":
            self.is_complete = not message.get("more_body", False)
        await self.send(message)

    async def finish(self) -> None:
        """Complete the answer, so that the client sees an end and not a broken connection."""
        if not self.is_started:
            headers = [(b"retry-after", b"5"), (b"content-length", b"0")]
            await self.send({"type": "http.response.start", "status": 503, "headers": headers})
        if not self.is_complete:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})


class OpenRequests:
    """Wraps an ASGI application and knows its open requests.

    ``on_stop`` is called first when the server gets SIGTERM or SIGINT. Event streams that a GET opened are ended
    after half a second, everything else after two: a server waits for its requests before it says that it shuts down.
    """

    def __init__(self, app: AsgiApp, *, on_stop: Callable[[], None]) -> None:
        self._app = app
        self._on_stop = on_stop
        self._open: set[_OpenRequest] = set()
        self._ending: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = _OpenRequest(method=scope["method"], send=send)
        self._open.add(request)
        try:
            with request.cancelling:
                await self._app(scope, receive, request.watch)
            # Also for a stream that its own library ended on the same signal, without a last message.
            if request.cancelling.cancel_called or (self._ending is not None and request.is_stream):
                await request.finish()
        finally:
            self._open.discard(request)

    def watch_signals(self) -> None:
        """Hear of SIGTERM and SIGINT before the server's own handlers do, which are called all the same."""
        if threading.current_thread() is not threading.main_thread():
            return  # only the main thread may handle signals: a server in a thread is stopped by other means
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            before = signal.getsignal(number)
            if callable(before):
                signal.signal(number, self._handler(loop, before))

    def _handler(
        self, loop: asyncio.AbstractEventLoop, before: Callable[[int, FrameType | None], Any]
    ) -> Callable[[int, FrameType | None], None]:
        def handle(number: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self._begin)
            before(number, frame)

        return handle

    def _begin(self) -> None:
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end())

    async def _end(self) -> None:
        self._on_stop()
        await asyncio.sleep(STREAMS_S)
        for request in list(self._open):
            if request.method == "GET" and request.is_stream:
                request.cancelling.cancel()
        await asyncio.sleep(ALL_S - STREAMS_S)
        for request in list(self._open):
            request.cancelling.cancel()
