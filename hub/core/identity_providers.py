"""What HUB_OIDC_PROVIDERS says of an identity provider that speaks OpenID Connect. Nothing is connected to here."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

SIGNED_BY_A_KEY_PAIR = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
OFFLINE_ACCESS = "offline_access"


def is_private_url(url: str) -> bool:
    """Whether nobody between can read what is sent to a URL: https, or http to this machine."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return bool(parts.hostname)
    return parts.scheme == "http" and _is_this_machine(parts.hostname or "")


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class IdentityProvider(BaseModel):
    """One provider. ``id`` names it in URLs and rows and never changes; ``audiences`` come beside the hub's own URLs.

    ``clients`` are those whose access tokens are taken; empty: of all that the provider issues such tokens to.
    ``allowed_groups``: who is in none of them is not let in; empty: everybody whom the provider signs in.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")
    name: str = Field(min_length=1, max_length=60)
    issuer: str
    client_id: str = Field(min_length=1)
    client_secret: SecretStr = SecretStr("")
    client_secret_file: Path | None = None
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    algorithms: tuple[str, ...] = ("RS256", "PS256", "ES256", "EdDSA")
    audiences: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    scope_prefix: str = ""
    groups_claim: str = "groups"
    username_claim: str = "preferred_username"
    allowed_groups: tuple[str, ...] = ()
    create_users: bool = True
    link_by_email: bool = False
    check_tokens: bool = True
    ca_file: Path | None = None

    @field_validator("issuer")
    @classmethod
    def _check_issuer(cls, value: str) -> str:
        if not is_private_url(value) or urlsplit(value).query or urlsplit(value).fragment:
            raise ValueError("issuer: expected an https URL without a query (http for this machine alone)")
        return value

    @field_validator("algorithms")
    @classmethod
    def _check_algorithms(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or set(value) - set(SIGNED_BY_A_KEY_PAIR):
            raise ValueError(f"algorithms: expected some of {', '.join(SIGNED_BY_A_KEY_PAIR)}")
        return value

    @field_validator("scopes")
    @classmethod
    def _check_scopes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "openid" not in value:
            raise ValueError("scopes: openid has to be among them")
        return value

    @model_validator(mode="after")
    def _check_secret(self) -> Self:
        if self.client_secret_file is None:
            return self
        if self.client_secret.get_secret_value():
            raise ValueError("give client_secret or client_secret_file, not both")
        if not self.client_secret_file.is_file():
            raise ValueError(f"client_secret_file: there is no file {self.client_secret_file}")
        return self

    @property
    def secret(self) -> str:
        """The client's secret, read from its file where one is named; "" for a public client."""
        if self.client_secret_file is not None:
            return self.client_secret_file.read_text("utf-8").strip()
        return self.client_secret.get_secret_value()

    @property
    def keeps_offline_access(self) -> bool:
        """Whether people are asked about after they have signed out, too."""
        return OFFLINE_ACCESS in self.scopes


def read_providers(value: object) -> object:
    """Read the setting's JSON. Raises ValueError that names what is wrong, without repeating any value."""
    if not isinstance(value, str):
        return value
    try:
        given = json.loads(value)
    except ValueError:
        raise ValueError("expected a JSON list of objects, see docs/sign-in.md") from None
    if not isinstance(given, list):
        raise ValueError("expected a JSON list of objects, see docs/sign-in.md")
    return tuple(given)


def check_providers(value: tuple[IdentityProvider, ...]) -> tuple[IdentityProvider, ...]:
    """Refuse two providers of one id or one issuer."""
    for what in ("id", "issuer"):
        given = [getattr(provider, what) for provider in value]
        if len(set(given)) < len(given):
            raise ValueError(f"two providers have the same {what}")
    return value
