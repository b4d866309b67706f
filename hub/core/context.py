"""Who is calling through which door: kept beside the call for audit and logs, never used for decisions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from hub.core.ids import new_id


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
