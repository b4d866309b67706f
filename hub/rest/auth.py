"""Who calls: the bearer token of a REST request, turned into a principal before its body is read."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from ninja.security import HttpBearer

from hub.access.principals import Principal
from hub.access.rights import sees_all_named
from hub.access.services import authenticate
from hub.core.context import current_call
from hub.core.errors import Unauthenticated, Unavailable
from hub.rest.errors import missing_token
from hub.rest.rate_limits import check_rate, stranger_subject, subject_of


class HubRequest(HttpRequest):
    """A request after authentication: what handlers of protected calls get."""

    principal: Principal


class BearerAuth(HttpBearer):
    """Checks ``Authorization: Bearer TOKEN``, sets ``request.principal`` and counts the call.

    Asking again for the same request costs nothing. Refused tokens are counted by address, accepted ones by token.
    """

    def __call__(self, request: HttpRequest) -> Principal:
        known: Principal | None = getattr(request, "principal", None)
        return known or self.authenticate(request, _bearer_token(request))

    def authenticate(self, request: HttpRequest, token: str) -> Principal:
        """:raises Unauthenticated: the token is not valid. :raises RateLimited: too many calls."""
        try:
            principal = authenticate(token)
        except Unauthenticated:
            call = current_call()
            check_rate(request, stranger_subject(call.address if call else None))
            raise
        check_rate(request, subject_of(principal))
        request.principal = principal  # type: ignore[attr-defined]  # from here on it is a HubRequest
        return principal


def may_still_have(request: HttpRequest, content: bytes) -> bool:
    """Whether the caller of an open answer may be given this part of it now.

    False once the token is revoked or has ended, its owner may not sign in, or something that the part names by its id
    is hidden from them. One query for the token, one for each kind of thing that is named; no call is counted.
    """
    try:
        principal = authenticate(_bearer_token(request))
    except Unauthenticated:
        return False
    except Unavailable:  # an identity provider has not answered for too long
        return False
    return sees_all_named(principal, content)


def _bearer_token(request: HttpRequest) -> str:
    header = request.headers.get("Authorization", "")
    scheme, _space, token = header.strip().partition(" ")
    if not header:
        raise missing_token()
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated(_("The Authorization header can't be used; expected: Bearer TOKEN."))
    return token.strip()


def principal_of(request: HttpRequest) -> Principal:
    """Give the caller of an authenticated request, for code that has a plain HttpRequest.

    :raises Unauthenticated: nobody has authenticated this request.
    """
    principal: Principal | None = getattr(request, "principal", None)
    if principal is None:
        raise missing_token()
    return principal
