"""The pages of the admin that lead to an identity provider and back. Loaded only where one is configured."""

from __future__ import annotations

import re
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView, OIDCAuthenticationRequestView

from hub.access.provider_sessions import CREDENTIAL
from hub.access.providers.checks import end_credential, keep_session
from hub.access.providers.jwt import provider_by_id
from hub.access.providers.keys import known
from hub.access.providers.sign_in import callback_url
from hub.access.sessions import confirm_now
from hub.access.sign_in import record_refused_provider
from hub.core.errors import HubError
from hub.core.identity_providers import IdentityProvider

STATES = "oidc_states"
_WORD = re.compile(r"[a-z_]{1,40}")
_SETTINGS = {"OIDC_USE_PKCE": True, "LOGIN_REDIRECT_URL": "home", "LOGIN_REDIRECT_URL_FAILURE": "admin:login"}


class _OfProvider:
    """Settings of the library, of which one provider is asked for."""

    provider: IdentityProvider = cast(IdentityProvider, None)  # as_view is given it, for which it has to be there

    def get_settings(self, attr: str, *args: object) -> Any:  # noqa: ANN401
        """Give a setting: ours, the provider's, or the library's default."""
        ours = {
            **_SETTINGS,
            "OIDC_RP_CLIENT_ID": self.provider.client_id,
            "OIDC_RP_SCOPES": " ".join(self.provider.scopes),
            "OIDC_AUTHENTICATION_CALLBACK_URL": "admin:index",
        }
        if attr == "OIDC_OP_AUTHORIZATION_ENDPOINT":
            return known(self.provider).described["authorization_endpoint"]
        return ours.get(attr, args[0] if args else None)


@method_decorator(never_cache, name="dispatch")
class StartView(_OfProvider, OIDCAuthenticationRequestView):  # type: ignore[misc]  # the library has no types
    """Sends people to the provider. With ``again`` it has to ask for their password there, whoever is signed in."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Redirect, with state, nonce and code challenge; the state is good for this provider alone."""
        response: HttpResponse = super().get(request)
        for entry in request.session[STATES].values():
            entry.setdefault("provider", self.provider.id)
            entry.setdefault("again", request.user.pk if "again" in request.GET else None)
        request.session.modified = True
        return response

    def get_extra_params(self, request: HttpRequest) -> dict[str, str]:
        """Name the address of this provider's answers."""
        again = {"prompt": "login", "max_age": "0"} if "again" in request.GET else {}
        return {"redirect_uri": callback_url(self.provider), **again}


@method_decorator(never_cache, name="dispatch")
class ReturnView(_OfProvider, OIDCAuthenticationCallbackView):  # type: ignore[misc]
    """Signs in who comes back from the provider; what is refused leads to the sign-in page, with the reason."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Take the answer to a request of this browser, from the provider that it was made to, once."""
        entry = request.session.get(STATES, {}).get(request.GET.get("state", ""))
        if entry is None or entry.get("provider") != self.provider.id:
            return self._failed(_("It was not begun in this browser, or is finished already. Sign in again."))
        if request.GET.get("iss", self.provider.issuer) != self.provider.issuer:
            return self._failed(_("The answer comes from another provider."))
        if "error" in request.GET:
            del request.session[STATES][request.GET["state"]]
            request.session.modified = True
            word = request.GET["error"]
            return self._failed(word if _WORD.fullmatch(word) else "error")
        request.sign_in_provider = self.provider  # type: ignore[attr-defined]  # the backend reads it
        self.begun_at, self.again_for = entry["added_on"], entry["again"]
        try:
            response: HttpResponse = super().get(request)
        except (HubError, SuspiciousOperation) as error:
            return self._failed(str(error))
        return response

    def login_success(self) -> HttpResponse:
        """Begin the session, or note that its person has just been asked for their password again."""
        request = self.request
        before = request.session.get(CREDENTIAL)
        if self.again_for is not None:
            return self._confirmed(request, self.user)
        response: HttpResponse = super().login_success()
        credential = keep_session(request.provider_account, request.provider_tokens)
        request.session[CREDENTIAL] = credential.pk
        if before is not None:
            _end(before)
        return response

    def login_failure(self) -> HttpResponse:
        """Lead to the sign-in page."""
        return self._failed(_("The provider sent no code."))

    def _confirmed(self, request: HttpRequest, user: User) -> HttpResponse:
        if user.pk != self.again_for or request.user.pk != self.again_for:
            return self._failed(_("Somebody else has signed in there."), to="home")
        asked_at = float(request.provider_claims.get("auth_time") or 0)  # type: ignore[attr-defined]
        if asked_at < self.begun_at - _CLOCKS_DIFFER_S:
            return self._failed(_("The provider did not ask for your password again."), to="home")
        confirm_now(request)
        return HttpResponseRedirect(self.success_url)

    def _failed(self, reason: str, *, to: str = "admin:login") -> HttpResponse:
        record_refused_provider(self.provider.id, reason)
        messages.error(
            self.request,
            _("Signing in with %(provider)s failed: %(reason)s") % {"provider": self.provider.name, "reason": reason},
        )
        return HttpResponseRedirect(reverse(to))


_CLOCKS_DIFFER_S = 30


def _end(credential_id: int) -> None:
    from hub.access.provider_models import ProviderCredential

    found = ProviderCredential.objects.select_related("account__user").filter(pk=credential_id).first()
    if found is not None and found.ended_at is None:
        end_credential(found, reason="the session was replaced by another")


def start(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Begin a sign-in at a provider; where it does not answer, the sign-in page says so."""
    provider = provider_by_id(provider_id)
    if provider is None:
        return HttpResponseRedirect(reverse("admin:login"))
    try:
        response: HttpResponse = StartView.as_view(provider=provider)(request)
    except HubError as error:
        record_refused_provider(provider.id, str(error))
        messages.error(request, str(error))
        return HttpResponseRedirect(reverse("admin:login"))
    return response


def come_back(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Take a provider's answer."""
    provider = provider_by_id(provider_id)
    if provider is None:
        return HttpResponseRedirect(reverse("admin:login"))
    response: HttpResponse = ReturnView.as_view(provider=provider)(request)
    return response
