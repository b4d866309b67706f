"""A provider, and a hub that lets its people in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings

from hub.access.providers import keys
from hub.core.identity_providers import IdentityProvider
from tests.oidc_server import CLIENT, SECRET, OidcServer, oidc_server

Configure = Callable[..., IdentityProvider]


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
