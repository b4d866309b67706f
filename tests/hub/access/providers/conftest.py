"""A provider, and a hub that lets its people in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group
from django.test import override_settings

from hub.access.provider_models import ProviderGroup, ProviderState
from hub.access.providers import keys
from hub.core.identity_providers import IdentityProvider
from tests.oidc_server import CLIENT, SECRET, OAuthError, OidcServer, Person, oidc_server

Configure = Callable[..., IdentityProvider]
DESCRIPTION, TOKENS = "/.well-known/openid-configuration", "/token"
USERINFO, INTROSPECTION = "/userinfo", "/introspection"
SOMEBODY_ELSE = {"sub": "sub-jiro"}


@pytest.fixture
def provider() -> Iterator[OidcServer]:
    with oidc_server() as server:
        server.audience = settings.CONFIG.public_url
        yield server


@pytest.fixture
def configure(provider: OidcServer, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Configure the provider, with these of its settings; ``CONFIG`` has others."""

    def change(CONFIG: dict[str, Any] | None = None, **own: Any) -> IdentityProvider:
        given = {"id": "office", "name": "庁内認証", "issuer": provider.issuer, "client_id": CLIENT}
        made = IdentityProvider.model_validate({**given, "client_secret": SECRET, **own})
        changed = {"hub_oidc_providers": (made,), "hub_oidc_timeout_s": 2.0, **(CONFIG or {})}
        monkeypatch.setattr(settings, "CONFIG", settings.CONFIG.model_copy(update=changed))
        keys.forget()
        return made

    change()
    return change


@pytest.fixture
def signs_in_at_providers() -> Iterator[None]:
    """A hub that was started with a provider among its settings: people may sign in there."""
    backends = [*settings.AUTHENTICATION_BACKENDS, "hub.access.providers.sign_in.ProviderBackend"]
    with override_settings(AUTHENTICATION_BACKENDS=backends):
        yield


@pytest.fixture
def hanako(provider: OidcServer, configure: Configure) -> Person:
    """Who is signed in at the provider: somebody who is in a group of the hub by a group there."""
    ProviderGroup.objects.create(provider="office", value="qa", group=Group.objects.create(name="品質管理課"))
    provider.person = provider.add("hanako", groups=["qa"])
    return provider.person


def describe_without(provider: OidcServer, *endpoints: str) -> None:
    """Let the provider not have some endpoints, and the hub not know any from before."""
    provider.says[DESCRIPTION] = lambda told: {name: url for name, url in told.items() if name not in endpoints}
    keys.forget()
    ProviderState.objects.all().delete()


def say(provider: OidcServer, path: str, *, without: str = "", **more: Any) -> None:
    """Change what the provider answers at a path."""
    provider.says[path] = lambda told: {name: value for name, value in {**told, **more}.items() if name != without}


def refuse(provider: OidcServer, path: str) -> None:
    def refusing(_told: Any) -> None:
        raise OAuthError("insufficient_scope", 403)

    provider.says[path] = refusing
