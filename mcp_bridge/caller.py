"""Who makes the running MCP call: kept in a context variable that threads inherit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.utils.translation import get_supported_language_variant
from django.utils.translation.trans_real import parse_accept_lang_header

from hub.access.principals import Principal

ERROR_LANGUAGE = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The principal of a call and the language it asked for (None: none).

    ``is_local`` callers sit at this machine (stdio): where no worker is alive their work is done in this process.
    ``toolsets`` are those that the caller asks for (names of mcp_bridge.toolsets).
    ``again`` finds the principal anew, for calls that wait: rights may end meanwhile; None: they are not looked at.
    """

    principal: Principal
    language: str | None = None
    is_local: bool = False
    again: Callable[[], Awaitable[Principal]] | None = None
    toolsets: tuple[str, ...] = ()


_current: ContextVar[Caller] = ContextVar("hub_mcp_caller")


def current_caller() -> Caller:
    """Give the running call's caller. Raises LookupError outside of any call."""
    return _current.get()


async def principal_now() -> Principal:
    """Give the running call's principal with the rights of now. Raises Unauthenticated when their token has ended."""
    caller = current_caller()
    return caller.principal if caller.again is None else await caller.again()


@contextmanager
def caller_context(caller: Caller) -> Iterator[None]:
    """Make ``caller`` the current one inside the block."""
    token = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(token)


def accepted_language(header: str) -> str | None:
    """Choose ja or en from an Accept-Language header; None when it names neither (``*`` included)."""
    for name, _quality in parse_accept_lang_header(header):
        try:
            return get_supported_language_variant(name)
        except LookupError:
            continue
    return None
