"""Who is calling through which door: kept beside the call for audit and logs, never used for decisions."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime

from hub.core.ids import new_id
from hub.core.masking import mask


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """``door`` is one of rest, mcp, cli, admin, task."""

    door: str
    request_id: str
    address: str | None = None
    agent: str | None = None


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
