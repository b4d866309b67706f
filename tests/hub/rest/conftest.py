from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client

from hub.access.models import AccessToken
from hub.access.principals import ALL_SCOPES, Scope, local_operator
from hub.access.services import create_token
from hub.core import temporary
from hub.rest import rate_limits

REST_MIDDLEWARE = "hub.rest.middleware.RestMiddleware"


@pytest.fixture(autouse=True)
def conventions(settings: Any, tmp_path: Path, queue: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The test API behind the real middleware, with counters and a temporary folder of its own."""
    settings.ROOT_URLCONF = "tests.hub.rest.urls"
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")
    settings.CACHES = {"default": {**settings.CACHES["default"], "KEY_PREFIX": uuid.uuid4().hex}}
    settings.STATIC_ROOT = str(tmp_path)
    if REST_MIDDLEWARE not in settings.MIDDLEWARE:
        behind = settings.MIDDLEWARE.index("django.middleware.locale.LocaleMiddleware") + 1
        settings.MIDDLEWARE = [*settings.MIDDLEWARE[:behind], REST_MIDDLEWARE, *settings.MIDDLEWARE[behind:]]
    rate_limits.rate_limiter = rate_limits.RateLimiter()
    yield
    caches.close_all()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A person's token, and a client that sends it."""

    user: User
    row: AccessToken
    token: str
    client: Client

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(f"/api/v1{path}", headers={**self.headers, **headers})

    def post_json(self, path: str, body: object, **headers: str) -> Any:
        """Post ``body`` (bytes and str as they are); header names are written with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(
            f"/api/v1{path}", body, content_type="application/json", headers={**self.headers, **named}
        )


def make_caller(username: str, scopes: frozenset[Scope] = ALL_SCOPES) -> Caller:
    user, _is_new = User.objects.get_or_create(username=username)
    row, token = create_token(principal=local_operator(), user=user, name="試験", scopes=scopes)
    return Caller(user=user, row=row, token=token, client=Client())


@pytest.fixture
def caller(db: None) -> Caller:
    return make_caller("佐藤")
