"""Who is calling through which door: kept beside the call for audit and logs, never used for decisions."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import unquote

from hub.core.ids import new_id
from hub.core.masking import mask


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """``door`` is one of rest, mcp, cli, admin, task; ``purpose`` what the caller says that they do it for."""

    door: str
    request_id: str
    address: str | None = None
    agent: str | None = None
    purpose: str = ""


PURPOSE_HEADER = "X-Purpose"
MOST_PURPOSE_CHARS = 200


def purpose_of(given: object) -> str:
    """Read what a caller says that a call is for: at most 200 printable characters; anything but a text is nothing.

    In a header it is UTF-8, as it is or percent-encoded.
    """
    if not isinstance(given, str):
        return ""
    with suppress(UnicodeError):  # what servers of HTTP make of bytes beyond ASCII
        given = given.encode("latin-1").decode("utf-8")
    text = unquote(given[: 12 * MOST_PURPOSE_CHARS])
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MOST_PURPOSE_CHARS]


_current: ContextVar[CallContext | None] = ContextVar("hub_call_context", default=None)


def current_call() -> CallContext | None:
    """Give the running call's context, or None outside of any call."""
    return _current.get()


def request_id() -> str:
    """Give the running call's request id, or a new one outside of any call."""
    call = current_call()
    return call.request_id if call else new_id("req")


@contextmanager
def call_context(context: CallContext) -> Iterator[CallContext]:
    """Make ``context`` the current one inside the block."""
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)


def in_one_line(record: logging.LogRecord) -> bool:
    """A filter for what is sent to the hub by mistake or malice: no traceback. Keeps every record."""
    record.exc_info = record.exc_text = None
    return True


class TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s%(request)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        call = current_call()
        record.request = f" [{call.request_id}]" if call else ""
        return super().format(record)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        call = current_call()
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": call.request_id if call else None,
        }
        if record.exc_info:
            line["exception"] = record.exc_text or mask(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)
