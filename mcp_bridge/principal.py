"""Where the principal of an MCP call comes from: the bearer token over HTTP, the command's token on stdio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, TokenVerifier
from pydantic import Field, InstanceOf

from hub.access.principals import Principal
from hub.access.services import local_principal
from hub.core.errors import Unauthenticated
from hub.rest.rate_limits import rate_limiter, refuse_beyond, subject_of
from mcp_bridge.admission import owner_of
from mcp_bridge.threads import in_thread
from mcp_bridge.tokens import TokenLookup

PrincipalSource = Callable[[], Awaitable[Principal]]


class HubAccessToken(AccessToken):
    """What the SDK wants to know of a bearer token, and the principal behind it."""

    principal: InstanceOf[Principal] = Field(exclude=True)


class HubTokenVerifier(TokenVerifier):
    """Checks bearer tokens as REST does (the hub's own, and those of identity providers), once per HTTP request."""

    def __init__(self, lookup: TokenLookup) -> None:
        self._lookup = lookup

    async def verify_token(self, token: str) -> HubAccessToken | None:
        """Find the owner of a token; None when it is not valid, whatever the reason."""
        try:
            principal = await owner_of(token.strip(), self._lookup)
        except Unauthenticated:
            return None
        # Sessions and sealed request state are bound to (client_id, iss, subject): all three are always set.
        return HubAccessToken(
            token=token,
            client_id=f"token-{principal.token_id}" if principal.token_id else f"client-{principal.client}",
            subject=f"user-{principal.user_id}",
            claims={"iss": settings.CONFIG.public_url},
            scopes=sorted(scope.value for scope in principal.scopes),
            principal=principal,
        )


def bearer_source(lookup: TokenLookup) -> PrincipalSource:
    """A source that checks the running HTTP request's token again whenever it is asked, also after the request."""
    token = get_access_token()

    async def source() -> Principal:
        if token is None:
            raise Unauthenticated(_("This call needs the header Authorization: Bearer TOKEN."))
        return await lookup.authenticate(token.token.strip())

    return source


async def bearer_principal() -> Principal:
    """The owner of the token that came with the running HTTP request. Raises Unauthenticated without one."""
    token = get_access_token()
    if not isinstance(token, HubAccessToken):
        raise Unauthenticated(_("This call needs the header Authorization: Bearer TOKEN."))
    return token.principal


def stdio_principal(token: str, lookup: TokenLookup) -> PrincipalSource:
    """A source that checks ``token`` (or HUB_TOKEN) at each call, so that revoking it ends its use at once.

    Without a token it gives the local operator, as :func:`local_principal` does. Raises Unauthenticated.
    """
    token = token or settings.CONFIG.hub_token

    async def owner() -> Principal:
        return await lookup.authenticate(token)

    async def operator() -> Principal:
        return local_principal()

    return owner if token else operator


def counted(source: PrincipalSource) -> PrincipalSource:
    """A source that also counts each call, as REST calls are; those of the local operator are not.

    Raises RateLimited beyond HUB_RATE_LIMIT_PER_MINUTE.
    """

    async def owner() -> Principal:
        principal = await source()
        if principal.user_id is not None:
            refuse_beyond(await in_thread(rate_limiter.hit, subject_of(principal)))
        return principal

    return owner
