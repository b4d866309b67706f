"""What happens around every MCP request: its context, its caller, and what its failures look like."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import translation
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from pydantic import ValidationError

from hub.core.context import CallContext, call_context
from hub.core.ids import new_id
from mcp_bridge.bus import EventBridge
from mcp_bridge.caller import Caller, accepted_language, caller_context
from mcp_bridge.errors import internal_error, protocol_error, to_hub_error
from mcp_bridge.principal import PrincipalSource

# Requests that say nothing of what is stored: answered before anybody is asked who calls.
WITHOUT_CALLER = frozenset({"initialize", "ping", "server/discover"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """The way by which calls reach a server. ``language`` is used where a request names none itself."""

    principal: PrincipalSource
    events: EventBridge
    language: str | None = None
    is_local: bool = False


def around_calls(door: Door) -> ServerMiddleware[Any]:
    """Make the middleware that gives each request its context, and turns its exceptions into protocol errors."""

    async def enter(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None or ctx.method in WITHOUT_CALLER:
            return await call_next(ctx)
        language = _language(ctx, door)
        # Facts come in the same language as through REST when the caller names none; see errors.in_words for errors.
        with call_context(_describe(ctx)), translation.override(language or settings.LANGUAGE_CODE):
            try:
                caller = Caller(principal=await door.principal(), language=language, is_local=door.is_local)
                with caller_context(caller):
                    return await call_next(ctx)
            except (MCPError, ValidationError):
                raise  # the SDK answers these as they are: a protocol error, and -32602
            except Exception as error:
                expected = to_hub_error(error)
                if expected is None:
                    raise internal_error(error, language=language) from error
                raise protocol_error(expected, language=language) from error

    return enter


def _language(ctx: ServerRequestContext[Any, Any], door: Door) -> str | None:
    headers = getattr(ctx.request, "headers", None)
    return door.language if headers is None else accepted_language(headers.get("accept-language", ""))


def _describe(ctx: ServerRequestContext[Any, Any]) -> CallContext:
    request = ctx.request
    params = ctx.session.client_params
    agent = request.headers.get("user-agent") if request else None
    if agent is None and params is not None:
        agent = f"{params.client_info.name}/{params.client_info.version}"
    address = request.client.host if request and request.client else None
    return CallContext(door="mcp", request_id=new_id("req"), address=_ip_address(address), agent=agent)


def _ip_address(host: str | None) -> str | None:
    try:
        return str(ipaddress.ip_address(host or ""))
    except ValueError:
        return None  # a Unix socket
