"""Sessions of the admin that an identity provider began: kept as long as it vouches for them."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from hub.core.errors import Unauthenticated, Unavailable

CREDENTIAL = "provider_credential"

Handler = Callable[[HttpRequest], HttpResponseBase]


class ProviderSessionMiddleware:
    """Signs people out for whom their provider does not vouch any more. Without providers it asks nothing.

    It comes after the middleware of sessions, of authentication and of messages.
    """

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.CONFIG.hub_oidc_providers and settings.SESSION_COOKIE_NAME in request.COOKIES:
            _end_without_provider(request)
        return self._get_response(request)


def _end_without_provider(request: HttpRequest) -> None:
    if request.path_info.startswith("/api/"):
        return  # programs come with tokens alone
    key = request.session.get(CREDENTIAL)
    if key is None:
        return
    from hub.access.providers.checks import ensure_session_vouched  # nobody else needs what it loads

    try:
        ensure_session_vouched(int(key))
    except (Unauthenticated, Unavailable) as refused:
        logout(request)
        messages.error(request, str(refused))
