"""Who makes an HTTP request, asked once and counted as REST requests are, before anything of it is served."""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar

import anyio
from django.db import InterfaceError, OperationalError
from redis.asyncio import Redis

from hub.access.principals import Principal
from hub.core.asgi import AsgiApp, Receive, Scope, Send
from hub.core.client_address import address_of
from hub.core.errors import HubError, Unauthenticated, Unavailable
from hub.rest.rate_limits import rate_limiter, refuse_beyond, stranger_subject, subject_of
from mcp_bridge.tokens import TokenLookup

logger = logging.getLogger(__name__)

SCHEME = "bearer"
CHECK_S = 15.0  # tokens expire, and providers take back their word, without an event

# The token that came with the running request, and who owns it or why it is refused.
_asked: ContextVar[tuple[str, Principal | Unauthenticated] | None] = ContextVar("hub_mcp_asked", default=None)


async def admit(scope: Scope, tokens: TokenLookup, counter: Redis) -> Principal | None:
    """Give the owner of the request's bearer token; None without a valid one, whom the SDK answers with 401.

    Counts the request by its token, or by its address where the token is refused. What else goes wrong in the lookup
    is raised where the SDK asks again.

    :raises RateLimited: more than HUB_RATE_LIMIT_PER_MINUTE requests in this minute.
    :raises Unavailable: the identity provider that issued the token can't be asked.
    """
    _asked.set(None)  # a connection's next request may begin with what the last one left in the context
    token = _bearer_token(scope)
    if not token:
        return None
    try:
        owner: Principal | Unauthenticated = await tokens.authenticate(token)
    except Unauthenticated as refused:
        owner = refused
    except Unavailable:
        raise
    except Exception:  # noqa: BLE001 (the SDK asks again, inside of what turns failures into answers)
        return None
    _asked.set((token, owner))
    principal = owner if isinstance(owner, Principal) else None
    subject = subject_of(principal) if principal else stranger_subject(address_of((scope.get("client") or ("",))[0]))
    refuse_beyond(await rate_limiter.hit_on_loop(subject, counter))
    return principal


async def owner_of(token: str, tokens: TokenLookup) -> Principal:
    """Find the owner of a token, who is known already where :func:`admit` was asked. Raises Unauthenticated."""
    asked_token, owner = _asked.get() or ("", None)
    if owner is None or asked_token != token:
        return await tokens.authenticate(token)
    if isinstance(owner, Unauthenticated):
        raise owner
    return owner


async def while_admitted(app: AsgiApp, scope: Scope, receive: Receive, send: Send, *, tokens: TokenLookup) -> None:
    """Serve a request; a stream that a client of the handshake eras keeps open ends when its token does.

    The token is looked at every CHECK_S. Streams of the later era end by what they listen with, calls by themselves.
    """
    token = _bearer_token(scope)
    if scope["method"] != "GET" or not token:
        await app(scope, receive, send)
        return
    with anyio.CancelScope() as serving:
        watch = asyncio.create_task(_cancel_when_refused(serving, token, tokens))
        try:
            await app(scope, receive, send)
        finally:
            watch.cancel()
    if serving.cancelled_caught:
        await send({"type": "http.response.body", "body": b""})


async def _cancel_when_refused(serving: anyio.CancelScope, token: str, tokens: TokenLookup) -> None:
    while True:
        await asyncio.sleep(CHECK_S)
        try:
            await tokens.authenticate(token)
        except HubError as refused:
            logger.info("a stream ends: %s", refused)
            serving.cancel()
            return
        except (OperationalError, InterfaceError) as error:
            logger.warning("whether a stream may stay open is looked at again later: %s", error)


def _bearer_token(scope: Scope) -> str:
    header = next((value for name, value in scope["headers"] if name == b"authorization"), b"").decode("latin-1")
    scheme, _space, token = header.partition(" ")
    return token.strip() if scheme.lower() == SCHEME else ""
