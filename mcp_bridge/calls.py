"""What happens around every MCP request: its context, its caller, and what its failures look like."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils import translation
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from pydantic import ValidationError

from hub.access.principals import Principal
from hub.core.client_address import address_of
from hub.core.context import PURPOSE_HEADER, CallContext, call_context, current_call, purpose_of
from hub.core.errors import HubError
from hub.core.ids import new_id
from mcp_bridge.caller import Caller, accepted_language, caller_context
from mcp_bridge.connections import Connection, ConnectionLog
from mcp_bridge.errors import internal_error, protocol_error, to_hub_error
from mcp_bridge.events import EventBridge
from mcp_bridge.principal import PrincipalSource
from mcp_bridge.tokens import TokenLookup
from mcp_bridge.toolsets import read_toolsets

# Requests that say nothing of what is stored: answered before anybody is asked who calls.
PURPOSE_META_KEY = "hub/purpose"
WITHOUT_CALLER = frozenset({"initialize", "ping", "server/discover"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """The way by which calls reach a server. ``language`` is used where a request names none itself.

    ``tokens`` finds the owners of bearer tokens. ``follow`` gives a source that asks again, after the running call too,
    who its caller is; ``principal`` where None. ``toolsets``: where a request's address names none.
    """

    principal: PrincipalSource
    events: EventBridge
    language: str | None = None
    is_local: bool = False
    connections: ConnectionLog = field(default_factory=ConnectionLog)
    tokens: TokenLookup = field(default_factory=TokenLookup)
    follow: Callable[[], PrincipalSource] | None = None
    toolsets: tuple[str, ...] = ()


def around_calls(door: Door, server: str) -> ServerMiddleware[Any]:
    """Make the middleware that gives each request its context, and turns its exceptions into protocol errors."""

    async def enter(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None or ctx.method in WITHOUT_CALLER:
            return await call_next(ctx)
        language = _language(ctx, door)
        # Facts come in the same language as through REST when the caller names none; see errors.in_words for errors.
        with call_context(_describe(ctx)), translation.override(language or settings.LANGUAGE_CODE):
            try:
                again = door.follow() if door.follow else None
                principal = await door.principal()
                caller = Caller(
                    principal=principal,
                    language=language,
                    is_local=door.is_local,
                    again=again,
                    toolsets=_toolsets(ctx, door),
                )
                with caller_context(caller), _noted(ctx, door, server, caller.principal) as connection:
                    result = await call_next(ctx)
                    if isinstance(result, dict) and result.get("isError"):
                        connection.fail(_text_of(result))
                    return result
            except (MCPError, ValidationError):
                raise  # the SDK answers these as they are: a protocol error, and -32602
            except Exception as error:
                expected = to_hub_error(error)
                if expected is None:
                    raise internal_error(error, language=language) from error
                raise protocol_error(expected, language=language) from error

    return enter


@contextmanager
def _noted(ctx: ServerRequestContext[Any, Any], door: Door, server: str, principal: Principal) -> Iterator[Connection]:
    """Count the request for the page that lists connections, and the error when it fails."""
    call = current_call()
    client = Connection(
        server=server,
        transport="stdio" if door.is_local else "http",
        protocol=ctx.protocol_version,
        client=_client_name(ctx) or (call.agent if call else None) or "",
        user=principal.name,
        user_id=principal.user_id,
        address=(call.address if call else None) or "",
    )
    with door.connections.request_of(client) as connection:
        try:
            yield connection
        except MCPError as error:
            connection.fail(f"{ctx.method}: {error.error.message} ({error.error.code})")
            raise
        except HubError as error:
            connection.fail(f"{ctx.method}: {error} ({error.error_code})")
            raise


def _text_of(result: dict[str, Any]) -> str:
    texts = [item["text"] for item in result.get("content", ()) if item.get("type") == "text"]
    return " ".join(texts)


def _client_name(ctx: ServerRequestContext[Any, Any]) -> str | None:
    params = ctx.session.client_params
    return f"{params.client_info.name} {params.client_info.version}" if params is not None else None


def _language(ctx: ServerRequestContext[Any, Any], door: Door) -> str | None:
    headers = getattr(ctx.request, "headers", None)
    return door.language if headers is None else accepted_language(headers.get("accept-language", ""))


def _toolsets(ctx: ServerRequestContext[Any, Any], door: Door) -> tuple[str, ...]:
    """What the address of the request asks for, else its door, else HUB_MCP_TOOLSETS. Raises InvalidInput."""
    given = ctx.request.query_params.get("toolsets", "") if ctx.request else ""
    return read_toolsets(given) or door.toolsets or settings.CONFIG.hub_mcp_toolsets


def _describe(ctx: ServerRequestContext[Any, Any]) -> CallContext:
    request = ctx.request
    params = ctx.session.client_params
    agent = request.headers.get("user-agent") if request else None
    if agent is None and params is not None:
        agent = f"{params.client_info.name}/{params.client_info.version}"
    address = request.client.host if request and request.client else None
    return CallContext(
        door="mcp", request_id=new_id("req"), address=address_of(address), agent=agent, purpose=_purpose(ctx)
    )


def _purpose(ctx: ServerRequestContext[Any, Any]) -> str:
    """What the request's ``_meta``, its header or, over stdio, HUB_PURPOSE says that it is for."""
    if given := purpose_of((ctx.meta or {}).get(PURPOSE_META_KEY)):
        return given
    headers = getattr(ctx.request, "headers", None)
    return settings.CONFIG.hub_purpose if headers is None else purpose_of(headers.get(PURPOSE_HEADER))
