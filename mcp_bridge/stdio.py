"""The MCP servers over stdin and stdout: only the protocol on stdout, and an end when the client's side ends."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from contextvars import Context
from types import TracebackType
from typing import Any, Generic, NoReturn, Self, TypeVar

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError
from pydantic_core import ErrorDetails

logger = logging.getLogger(__name__)
Stream = TypeVar("Stream", bound=WriteStream[SessionMessage] | ReadStream[SessionMessage | Exception])

DRAIN_S = 3.0
POLL_S = 0.05


def _nothing() -> None:
    """What is called where nobody wants to know."""


async def serve(
    server: Server[Any], *, on_end: Callable[[], None] = _nothing, on_leave: Callable[[], None] = _nothing
) -> NoReturn:
    """Serve one client until it closes stdin, or SIGTERM or SIGINT comes; then end the process with exit code 0.

    ``on_end`` is called when the client has closed stdin, before its last answers are awaited; ``on_leave`` last.
    """
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_leave_on_signal, on_leave)
            async with stdio_server() as (incoming, outgoing):
                answers = _Answers(outgoing)
                requests = _Requests(incoming, answers, on_end=on_end)
                await server.run(requests, answers, server.create_initialization_options())
            group.cancel_scope.cancel()
    except* BrokenPipeError:
        logger.info("the client is gone")
    leave(on_leave)


async def _leave_on_signal(on_leave: Callable[[], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            logger.info("ending: %s", signal.Signals(number).name)
            leave(on_leave)


def leave(on_leave: Callable[[], None]) -> NoReturn:
    """End the process now. The thread that reads stdin can't be interrupted, and Python would wait for it."""
    on_leave()
    sys.stderr.flush()
    os._exit(0)


class _Wrapped(Generic[Stream]):
    """A stream that is closed with the one that it is made of."""

    def __init__(self, inner: Stream) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class _Answers(_Wrapped[WriteStream[SessionMessage]]):
    """The stream to the client. Knows which requests still wait for their answer."""

    def __init__(self, inner: WriteStream[SessionMessage]) -> None:
        super().__init__(inner)
        self.waiting: set[RequestId] = set()

    async def send(self, item: SessionMessage, /) -> None:
        await self._inner.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
            self.waiting.discard(item.message.id)


class _Requests(_Wrapped[ReadStream[SessionMessage | Exception]]):
    """The stream from the client. Refuses lines that are no messages, and ends only when all requests are answered."""

    def __init__(
        self, inner: ReadStream[SessionMessage | Exception], answers: _Answers, *, on_end: Callable[[], None]
    ) -> None:
        super().__init__(inner)
        self._answers = answers
        self._on_end = on_end

    @property
    def last_context(self) -> Context | None:
        """What the SDK looks for: the context variables that the last message was sent with."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            try:
                item = await self._inner.receive()
            except anyio.EndOfStream:
                await self._drain()
                raise
            if isinstance(item, SessionMessage):
                if isinstance(item.message, JSONRPCRequest):
                    self._answers.waiting.add(item.message.id)
                return item
            if (refusal := _refusal(item)) is not None:
                await self._answers.send(SessionMessage(refusal))

    async def _drain(self) -> None:
        """A client may close stdin right after its last request and still read the answer."""
        logger.info("disconnected: the client has closed stdin")
        self._on_end()
        with anyio.move_on_after(DRAIN_S):
            while self._answers.waiting:
                await anyio.sleep(POLL_S)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


def _refusal(error: Exception) -> JSONRPCError | None:
    """The answer to a line that is no JSON-RPC message; None for an empty line."""
    problems = error.errors() if isinstance(error, ValidationError) else []
    if problems and problems[0]["type"] != "json_invalid":
        message = "Not a JSON-RPC request, notification or response (batches are not part of MCP)."
        return JSONRPCError(jsonrpc="2.0", id=_id_in(problems), error=ErrorData(code=INVALID_REQUEST, message=message))
    if problems and not str(problems[0]["input"]).strip():
        return None
    reason = f": {problems[0]['msg']}" if problems else ""
    return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message=f"Parse error{reason}"))


def _id_in(problems: list[ErrorDetails]) -> RequestId | None:
    for problem in problems:
        given = problem["input"].get("id") if isinstance(problem["input"], dict) else None
        if isinstance(given, str | int) and not isinstance(given, bool):
            return given
    return None
