"""Signing in to the admin at an identity provider: the authorization code with PKCE, by mozilla-django-oidc.

The library keeps state, nonce and code verifier in the session, takes each state once, allows only addresses of this
host as ``next``, and exchanges the code. What it has for one provider, or not at all, is here: several providers, all
checks of the ID token, who the person is, what is kept to ask about them later.
"""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from hub.access.provider_models import ProviderCredential
from hub.access.providers import server
from hub.access.providers.accounts import find_or_make_person
from hub.access.providers.checks import end_credential, tokens_of
from hub.access.providers.jwt import check_id_token, provider_by_id
from hub.access.providers.keys import away, known
from hub.core.errors import Unauthenticated, Unavailable
from hub.core.identity_providers import IdentityProvider

logger = logging.getLogger(__name__)

BACKEND = "hub.access.providers.sign_in.ProviderBackend"


class ProviderBackend(OIDCAuthenticationBackend):  # type: ignore[misc]  # it has no types
    """Signs in who comes back from a provider with a code. Errors are those of the hub, and end the sign-in."""

    def __init__(self) -> None:
        """Read no settings: which provider it is about, the request says."""
        self.UserModel = User
        self.provider: IdentityProvider | None = None

    @staticmethod
    def get_settings(attr: str, *args: object) -> Any:  # noqa: ANN401
        """Give a setting of the library; those of the provider are set with each request."""
        return {"OIDC_AUTHENTICATION_CALLBACK_URL": "admin:index"}.get(attr, args[0] if args else None)

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:  # noqa: ANN401
        """Give whom the provider, whose id is on the request, has signed in; nobody for a password.

        What else the sign-in brought is put on the request: ``provider_account``, ``provider_tokens`` and
        ``provider_claims``, those of the ID token.

        :raises Unauthenticated: the provider, or what it says, is refused; the message says why.
        :raises Unavailable: it does not answer.
        """
        provider: IdentityProvider | None = getattr(request, "sign_in_provider", None)
        if provider is None or "nonce" not in credentials:
            return None
        described = known(provider).described
        self.provider = provider
        self.OIDC_OP_TOKEN_ENDPOINT = described["token_endpoint"]
        self.OIDC_OP_USER_ENDPOINT = described.get("userinfo_endpoint", "")
        self.OIDC_RP_CLIENT_ID, self.OIDC_RP_CLIENT_SECRET = provider.client_id, provider.secret
        try:
            user: User | None = super().authenticate(request, **credentials)
        except server.ProviderAway as error:
            raise away(provider, str(error)) from error
        return user

    def get_user(self, user_id: int) -> User | None:
        """Give the person of a session, as long as they may sign in."""
        return User.objects.filter(pk=user_id, is_active=True).first()

    def get_token(self, payload: dict[str, str]) -> dict[str, Any]:
        """Exchange the code, with the address that this provider knows."""
        provider = self._configured()
        form = {name: value for name, value in payload.items() if not name.startswith("client_")}
        form["redirect_uri"] = callback_url(provider)
        try:
            tokens = server.ask_for_tokens(provider, self.OIDC_OP_TOKEN_ENDPOINT, form)
        except server.ProviderRefused as refusal:
            raise Unauthenticated(
                _("The identity provider refuses the sign-in: {error}."), error=refusal.error
            ) from refusal
        self.request.provider_tokens = tokens
        return tokens

    def verify_token(self, token: str | None, **expected: Any) -> dict[str, Any]:  # noqa: ANN401
        """Check the ID token: more than its signature, which is all that the library looks at."""
        if not isinstance(token, str):
            raise Unauthenticated(_("The identity provider sent no ID token."))
        return check_id_token(self._configured(), token, nonce=str(expected["nonce"]))

    def store_tokens(self, access_token: str, id_token: str) -> None:
        """Keep none in the session: they are sealed in the database."""

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> User:
        """Give the person of the ID token's subject, with what userinfo says of them."""
        provider, claims = self._configured(), dict(payload)
        if self.OIDC_OP_USER_ENDPOINT:
            try:
                person = server.ask_about_person(provider, self.OIDC_OP_USER_ENDPOINT, access_token)
            except server.ProviderRefused as refusal:
                raise Unauthenticated(
                    _("The identity provider refuses the sign-in: {error}."), error=refusal.error
                ) from refusal
            if person.get("sub") != payload["sub"]:
                raise Unauthenticated(_("The identity provider speaks of somebody else."))
            claims |= person
        account = find_or_make_person(provider, str(payload["sub"]), claims)
        self.request.provider_account, self.request.provider_claims = account, payload
        return account.user

    def _configured(self) -> IdentityProvider:
        if self.provider is None:
            raise AssertionError("the request says which provider it is")
        return self.provider


def callback_url(provider: IdentityProvider) -> str:
    """Give the address to which a provider sends people back: one for each, so that none speaks for another."""
    return f"{settings.CONFIG.public_url}/admin/sign-in/{provider.id}/callback/"


def sign_out_url(provider: IdentityProvider, id_token: str) -> str:
    """Give the address that ends the session at the provider, too; "" where it has none, or does not answer."""
    try:
        endpoint = known(provider).described.get("end_session_endpoint", "")
    except Unavailable as error:
        logger.warning("%s is not told of a sign-out: %s", provider.id, error)
        return ""
    back = f"{settings.CONFIG.public_url}/admin/login/"
    query = {"id_token_hint": id_token, "client_id": provider.client_id, "post_logout_redirect_uri": back}
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}" if endpoint and id_token else ""


def sign_out(credential_id: int) -> tuple[str, str]:
    """End what a session was kept by; gives the provider's name, and the address that ends its session, too, or "".

    With ``offline_access`` the provider is asked on about the person, for their own access tokens.
    """
    found = ProviderCredential.objects.select_related("account__user").filter(pk=credential_id).first()
    provider = None if found is None else provider_by_id(found.account.provider)
    if found is None or provider is None:
        return "", ""
    id_token = tokens_of(found).get("id_token", "")
    if not provider.keeps_offline_access and found.ended_at is None:
        end_credential(found, reason="signed out")
    return provider.name, sign_out_url(provider, id_token)
