"""Requests to an identity provider: bounded in time and bytes, over private connections, with what failed in words."""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import httpx2
from django.conf import settings

from hub.core.identity_providers import IdentityProvider, is_private_url
from hub.core.model_servers import AnswerTooLong, BoundedStream, timeout
from hub.core.waiting import waiting_elsewhere

logger = logging.getLogger(__name__)

MOST_BYTES = 1024 * 1024
DISCOVERY = "/.well-known/openid-configuration"
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
MORE_ENDPOINTS = ("userinfo_endpoint", "introspection_endpoint", "end_session_endpoint", "revocation_endpoint")


class ProviderAway(Exception):
    """The provider can't be asked now: it does not answer, or not what the protocol says. The text says why."""


class ProviderRefused(Exception):
    """The provider answered no; ``error`` is its word for it, such as ``invalid_grant``."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


def discover(provider: IdentityProvider) -> dict[str, Any]:
    """Fetch what the provider says of itself.

    :raises ProviderAway: also when it names another issuer, or an endpoint that is not reached privately.
    """
    described = _get(provider, provider.issuer.rstrip("/") + DISCOVERY)
    if described.get("issuer") != provider.issuer:
        raise ProviderAway(f"its description is of the issuer {described.get('issuer')!r}")
    for name in (*ENDPOINTS, *MORE_ENDPOINTS):
        url = described.get(name)
        if url is None and name in MORE_ENDPOINTS:
            continue
        if not isinstance(url, str) or not is_private_url(url):
            raise ProviderAway(f"its {name} is not an https URL")
    return described


def fetch_keys(provider: IdentityProvider, url: str) -> list[dict[str, Any]]:
    """Fetch the keys that the provider signs with. Raises ProviderAway."""
    keys = _get(provider, url).get("keys")
    if not isinstance(keys, list):
        raise ProviderAway("its jwks_uri has no list of keys")
    return [key for key in keys if isinstance(key, dict)]


def ask_for_tokens(provider: IdentityProvider, url: str, form: Mapping[str, str]) -> dict[str, Any]:
    """Exchange a code or a refresh token. Raises ProviderRefused and ProviderAway."""
    return _post(provider, url, form)


def ask_about_token(provider: IdentityProvider, url: str, token: str) -> dict[str, Any]:
    """Ask whether an access token is active (RFC 7662). Raises ProviderRefused, of our client, and ProviderAway."""
    return _post(provider, url, {"token": token, "token_type_hint": "access_token"})


def ask_about_person(provider: IdentityProvider, url: str, access_token: str) -> dict[str, Any]:
    """Fetch the claims of who an access token was issued for. Raises ProviderRefused and ProviderAway."""
    return _get(provider, url, {"Authorization": f"Bearer {access_token}"})


def _get(provider: IdentityProvider, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    return _ask(provider, "GET", url, headers=dict(headers or {}))


def _post(provider: IdentityProvider, url: str, form: Mapping[str, str]) -> dict[str, Any]:
    secret = provider.secret
    whole = {**form, "client_id": provider.client_id, **({"client_secret": secret} if secret else {})}
    return _ask(provider, "POST", url, data=whole)


def _ask(provider: IdentityProvider, method: str, url: str, **request: Any) -> dict[str, Any]:  # noqa: ANN401
    seconds = settings.CONFIG.hub_oidc_timeout_s
    until = time.monotonic() + seconds

    def prepare(sent: httpx2.Request) -> None:
        sent.headers["Accept"] = "application/json"
        sent.headers["Accept-Encoding"] = "identity"
        sent.headers["User-Agent"] = "hub"
        sent.extensions["deadline"] = until

    def bound(answer: httpx2.Response) -> None:
        answer.stream = BoundedStream(answer, most_bytes=MOST_BYTES)

    hooks: Any = {"request": [prepare], "response": [bound]}
    verify: ssl.SSLContext | bool = ssl.create_default_context(cafile=provider.ca_file) if provider.ca_file else True
    try:
        with waiting_elsewhere(), httpx2.Client(verify=verify, trust_env=False, event_hooks=hooks) as client:
            answer = client.request(method, url, timeout=timeout(seconds), follow_redirects=False, **request)
            return _read(answer)
    except httpx2.TimeoutException:
        raise ProviderAway(f"{url} did not answer within {seconds:g} s (HUB_OIDC_TIMEOUT_S)") from None
    except (httpx2.HTTPError, AnswerTooLong, ssl.SSLError, OSError) as error:
        raise ProviderAway(f"{url}: {type(error).__name__}: {str(error)[:200]}") from error


def _read(answer: httpx2.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.status_code in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        word = body.get("error") if isinstance(body, dict) else None
        raise ProviderRefused(str(word or f"HTTP {answer.status_code}")[:100])
    if answer.status_code != HTTPStatus.OK:
        raise ProviderAway(f"{answer.request.url.copy_with(query=None)}: HTTP {answer.status_code}")
    if not isinstance(body, dict):
        raise ProviderAway(f"{answer.request.url.copy_with(query=None)}: the answer is no JSON object")
    return body
