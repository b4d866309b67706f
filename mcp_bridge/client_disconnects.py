"""Clients that leave in the middle of a request: every day's business, and no error of the server."""

from __future__ import annotations

import logging

import anyio
from starlette.requests import ClientDisconnect

from hub.core.asgi import AsgiApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

SDK_LOGGER = "mcp.server.streamable_http"
GONE = (ClientDisconnect, anyio.ClosedResourceError, anyio.BrokenResourceError)


class _Answer:
    """What goes back: at most one answer, with an end to it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.is_started = False
        self.is_complete = False

    async def send(self, message: Message) -> None:
        """Pass a message on. The SDK answers 500 when a session ends under a request that has been answered."""
        if self.is_complete:
            logger.debug("%s dropped: the answer is complete", message["type"])
            return
        self.is_started = True
        self.is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """Complete an answer that was begun: a stream whose session ended stops without its last message."""
        if self.is_started and not self.is_complete:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})


def enduring(app: AsgiApp) -> AsgiApp:
    """Wrap an application of the SDK so that a client that leaves is a line of the log, and no failure."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        answer = _Answer(send)
        try:
            await app(scope, receive, answer.send)
        except GONE as error:
            if not isinstance(error, ClientDisconnect) and not answer.is_started:
                raise
            logger.info("a client left %s (%s)", scope["path"], type(error).__name__)
        await answer.end()

    return serve


def quieten_sdk() -> None:
    """Log departures that the SDK takes for failures as one line of information, without a traceback. Repeatable."""
    logging.getLogger(SDK_LOGGER).addFilter(_as_information)


def _as_information(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if error is None or not _is_departure(error):
        return True
    logger.info("a client left: %s (%s)", record.getMessage(), type(error).__name__)
    return False


def _is_departure(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_departure(each) for each in error.exceptions)
    return isinstance(error, GONE)
