"""Signed tokens of a provider: whether it made them, for us, and when. No permission is decided here.

What is refused, beside what is expired or wrongly signed: algorithms that are not allowed (none, and HMAC with a
public key, can't even be set), keys of another kind than the algorithm, other issuers and audiences, tokens of clients
that are not listed, ID tokens in place of access tokens, and tokens that are bound to a key that we don't ask for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn

import jwt
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.providers.keys import known
from hub.core.errors import Unauthenticated
from hub.core.identity_providers import IdentityProvider

LONGEST_TOKEN = 16 * 1024
LEEWAY_S = 30
LEAST_RSA_BITS = 2048
ACCESS_TYPES = frozenset({None, "jwt", "at+jwt", "application/at+jwt"})
OF_ID_TOKENS = ("nonce", "at_hash", "c_hash")
NEEDED = ["exp", "iat", "iss", "sub", "aud"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessClaims:
    """What an access token says: for whom, to which client, with which scopes (as the provider names them)."""

    provider: IdentityProvider
    subject: str
    client: str
    scopes: frozenset[str]
    expires_at: datetime
    claims: dict[str, Any] = field(repr=False)


def provider_by_id(provider_id: str) -> IdentityProvider | None:
    """Give the configured provider of this id."""
    return next((one for one in settings.CONFIG.hub_oidc_providers if one.id == provider_id), None)


def check_access_token(token: str) -> AccessClaims:
    """Check an access token for this hub.

    :raises Unauthenticated: it is refused; the message says why. :raises Unavailable: nothing is known of its
    provider's keys, which does not answer.
    """
    header, issuer = _look_into(token)
    provider = next((one for one in settings.CONFIG.hub_oidc_providers if one.issuer == issuer), None)
    if provider is None:
        _refuse(_("its issuer is none of the configured identity providers"))
    if str(header.get("typ") or "jwt").lower() not in ACCESS_TYPES:
        _refuse(_("its type is not that of an access token"))
    claims = _verified(provider, token, header, audience=None)
    if not any(_is_for_us(provider, audience) for audience in _audiences(claims)):
        _refuse(_("its audience is not this hub"))
    if any(name in claims for name in OF_ID_TOKENS):
        _refuse(_("it is an ID token, not an access token"))
    if "cnf" in claims:
        _refuse(_("it is bound to a key of its client, which is not supported"))
    client = str(claims.get("client_id") or claims.get("azp") or "")
    if provider.clients and client not in provider.clients:
        _refuse(_("it was issued to a client that is not allowed"))
    return AccessClaims(
        provider=provider,
        subject=str(claims["sub"]),
        client=client,
        scopes=frozenset(_scopes(claims)),
        expires_at=datetime.fromtimestamp(float(claims["exp"]), UTC),
        claims=claims,
    )


def check_id_token(provider: IdentityProvider, token: str, *, nonce: str | None) -> dict[str, Any]:
    """Check an ID token that the provider issued to us; ``nonce`` None: the exchange had none (a refresh).

    :raises Unauthenticated: it is refused. :raises Unavailable: as above.
    """
    header, _issuer = _look_into(token)
    claims = _verified(provider, token, header, audience=provider.client_id)
    if len(_audiences(claims)) > 1 and claims.get("azp") != provider.client_id:
        _refuse(_("it was issued to another client"))
    if nonce is not None and claims.get("nonce") != nonce:
        _refuse(_("its nonce is not that of this sign-in"))
    return claims


def _look_into(token: str) -> tuple[dict[str, Any], object]:
    if len(token) > LONGEST_TOKEN:
        _refuse(_("it is too long"))
    try:
        header = jwt.get_unverified_header(token)
        unverified = jwt.decode(token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError):
        _refuse(_("it can't be read"))
    return header, unverified.get("iss")


def _verified(
    provider: IdentityProvider, token: str, header: dict[str, Any], *, audience: str | None
) -> dict[str, Any]:
    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in provider.algorithms:
        _refuse(_("its algorithm is not allowed"))
    if kid is not None and not isinstance(kid, str):
        _refuse(_("it can't be read"))
    stored = known(provider, kid=kid).key(kid)
    if stored is None:
        _refuse(_("its key is none of the provider's"))
    if stored.get("alg") not in (None, algorithm):
        _refuse(_("its key is for another algorithm"))
    try:
        key = jwt.PyJWK(stored, algorithm=algorithm)
        if getattr(key.key, "key_size", LEAST_RSA_BITS) < LEAST_RSA_BITS and stored.get("kty") == "RSA":
            _refuse(_("its key is too short"))
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=audience,
            issuer=provider.issuer,
            leeway=LEEWAY_S,
            options={"require": NEEDED, "verify_aud": audience is not None},
        )
    except jwt.ExpiredSignatureError:
        _refuse(_("it has expired"))
    except (jwt.ImmatureSignatureError, jwt.InvalidIssuedAtError):
        _refuse(_("it is not valid yet"))
    except jwt.InvalidAudienceError:
        _refuse(_("its audience is not this hub"))
    except jwt.MissingRequiredClaimError:
        _refuse(_("it lacks a claim; needed are exp, iat, iss, sub and aud"))
    except jwt.InvalidSignatureError:
        _refuse(_("its signature is wrong"))
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError):
        _refuse(_("it can't be read"))
    return claims


def _audiences(claims: dict[str, Any]) -> list[str]:
    given = claims["aud"]
    return [given] if isinstance(given, str) else [one for one in given if isinstance(one, str)]


def _is_for_us(provider: IdentityProvider, audience: str) -> bool:
    own = settings.CONFIG.public_url  # so are its MCP servers, below it
    return audience == own or audience.startswith(f"{own}/") or audience in provider.audiences


def _scopes(claims: dict[str, Any]) -> list[str]:
    given = claims.get("scope", claims.get("scp", ""))
    return given.split() if isinstance(given, str) else [str(one) for one in given]


def _refuse(reason: object) -> NoReturn:
    raise Unauthenticated(
        _("The token of the identity provider is refused: {reason}."), code="provider_token_refused", reason=reason
    )
