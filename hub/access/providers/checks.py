"""Whether a provider still vouches for who comes in: asked at the door, at most every HUB_OIDC_CHECK_S.

A session is asked about with its refresh token, an access token by introspection or, where the provider has none, at
the userinfo endpoint. Both say what groups the person is in now. A "no" ends what was asked about; when nothing is left
that the provider vouches for, the person's own access tokens stop working, until they sign in again. A provider that
does not answer changes nothing for HUB_OIDC_AWAY_MINUTES; then its people stay outside.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.provider_models import CredentialKind, ProviderAccount, ProviderCredential
from hub.access.providers import server
from hub.access.providers.accounts import confirm_account, end_account, groups_in
from hub.access.providers.jwt import AccessClaims, check_id_token, provider_by_id
from hub.access.providers.keys import known
from hub.access.providers.server import ProviderAway, ProviderRefused
from hub.core.encryption.errors import SealBroken
from hub.core.errors import Unauthenticated, Unavailable
from hub.core.identity_providers import IdentityProvider

logger = logging.getLogger(__name__)

AT_LATEST = timedelta(seconds=60)
"""How old a provider's word is at most, while it answers."""
RETRY_AFTER = timedelta(seconds=15)
POLL_S = 0.05
KEPT_TOKENS = ("refresh_token", "access_token", "id_token")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a provider answered: whether it vouches for the person, with which claims; None: not said."""

    vouches: bool
    claims: dict[str, Any] | None = None
    reason: str = ""


def digest_of_bearer(token: str) -> str:
    """Give the sha256 under which an access token's checks are kept."""
    return hashlib.sha256(f"bearer:{token}".encode()).hexdigest()


def ensure_vouched(credential: ProviderCredential, *, token: AccessClaims | None = None, raw: str = "") -> None:
    """Return when the provider vouches for what a person came with; it is asked where its last word is old.

    Not to be called in a transaction or on an event loop. ``token`` and ``raw`` belong to access tokens.

    :raises Unauthenticated: it does not. :raises Unavailable: it has not answered for HUB_OIDC_AWAY_MINUTES.
    """
    now = timezone.now()
    if credential.ended_at is not None:
        raise refused()
    if now - credential.checked_at < timedelta(seconds=settings.CONFIG.hub_oidc_check_s):
        return
    retry_after = min(RETRY_AFTER, timedelta(seconds=settings.CONFIG.hub_oidc_check_s))
    due = ProviderCredential.objects.filter(pk=credential.pk, ended_at=None, attempted_at__lt=now - retry_after)
    mine = due.update(attempted_at=now)
    if mine:
        _ask(credential, token, raw)
    elif now - credential.checked_at >= AT_LATEST:
        _wait_for_other(credential, until=time.monotonic() + settings.CONFIG.hub_oidc_timeout_s)
    if credential.ended_at is not None:
        raise refused()
    if timezone.now() - credential.checked_at > timedelta(minutes=settings.CONFIG.hub_oidc_away_minutes):
        raise Unavailable(
            _("The identity provider {provider} has not answered for too long; nobody comes in by it until it does."),
            code="provider_away",
            provider=credential.account.provider,
        )


def ensure_account_vouched(account_id: int) -> None:
    """The same for a person's own access tokens: the provider has to vouch for some session of theirs.

    :raises Unauthenticated, Unavailable: as above.
    """
    account = ProviderAccount.objects.select_related("user").get(pk=account_id)
    now = timezone.now()
    if account.ended_at is not None:
        raise refused()
    confirmed = account.confirmed_at
    if confirmed is not None and now - confirmed < timedelta(seconds=settings.CONFIG.hub_oidc_check_s):
        return
    sessions = account.credentials.filter(kind=CredentialKind.SESSION, ended_at__isnull=True).order_by("-pk")
    for credential in sessions.select_related("account__user").defer("tokens"):
        try:
            ensure_vouched(credential)
        except Unauthenticated:
            continue
        return
    end_account(account, reason="no session is left")
    raise refused()


def keep_session(account: ProviderAccount, tokens: dict[str, Any]) -> ProviderCredential:
    """Keep what a session is asked about with: the tokens that the provider gave, encrypted."""
    now = timezone.now()
    kept = {name: str(tokens[name]) for name in KEPT_TOKENS if tokens.get(name)}
    digest = hashlib.sha256(f"session:{secrets.token_hex(32)}".encode()).hexdigest()
    return ProviderCredential.objects.create(
        account=account,
        kind=CredentialKind.SESSION,
        digest=digest,
        tokens=json.dumps(kept),
        checked_at=now,
        attempted_at=now,
    )


def tokens_of(credential: ProviderCredential) -> dict[str, str]:
    """Give what a session is asked about with; empty when that can't be decrypted any more."""
    try:
        return dict(json.loads(credential.tokens or "{}"))
    except SealBroken as error:
        logger.warning("a session can't be asked about: %s", error)
        return {}


def end_credential(credential: ProviderCredential, *, reason: str) -> None:
    """Close the door that a credential opened; the last session takes the person's own access tokens with it."""
    now = timezone.now()
    ProviderCredential.objects.filter(pk=credential.pk).update(ended_at=now, tokens="")
    credential.ended_at = now
    account = credential.account
    if not account.credentials.filter(kind=CredentialKind.SESSION, ended_at__isnull=True).exists():
        end_account(account, reason=reason)


def _ask(credential: ProviderCredential, token: AccessClaims | None, raw: str) -> None:
    account = credential.account
    provider = provider_by_id(account.provider)
    if provider is None:
        end_credential(credential, reason="the provider is not configured any more")
        return
    try:
        if credential.kind == CredentialKind.SESSION:
            said = _ask_by_session(provider, credential)
        elif token is not None:
            said = ask_by_token(provider, token, raw)
        else:
            raise AssertionError("an access token is asked about by who brings it")
    except (ProviderAway, Unavailable) as error:
        logger.warning("%s can't be asked about %s: %s", provider.id, account.user_id, error)
        return
    now = timezone.now()
    if said.vouches:
        try:
            confirm_account(account, said.claims, now=now)
        except Unauthenticated as refusal:
            said = Said(vouches=False, reason=str(refusal))
    if not said.vouches:
        end_credential(credential, reason=said.reason)
        return
    ProviderCredential.objects.filter(pk=credential.pk).update(checked_at=now)
    credential.checked_at = now


def _wait_for_other(credential: ProviderCredential, *, until: float) -> None:
    """Another call is asking: wait for what it hears, as long as the provider may take."""
    while time.monotonic() < until:
        credential.refresh_from_db(fields=["checked_at", "attempted_at", "ended_at"])
        now = timezone.now()
        is_answered = credential.ended_at is not None or now - credential.checked_at < AT_LATEST
        if is_answered or now - credential.attempted_at > timedelta(seconds=settings.CONFIG.hub_oidc_timeout_s):
            return
        time.sleep(POLL_S)


def _ask_by_session(provider: IdentityProvider, credential: ProviderCredential) -> Said:
    kept = tokens_of(credential)
    if not kept:
        return Said(vouches=False, reason="the session's tokens can't be decrypted")
    described = known(provider).described
    try:
        if "refresh_token" in kept:
            form = {"grant_type": "refresh_token", "refresh_token": kept["refresh_token"]}
            fresh = server.ask_for_tokens(provider, described["token_endpoint"], form)
            given = {
                name: str(fresh[name]) for name in ("refresh_token", "access_token", "id_token") if fresh.get(name)
            }
            kept |= given
            credential.tokens = json.dumps(kept)
            credential.save(update_fields=["tokens"])
        else:
            given = {}
        claims: dict[str, Any] = {}
        if "id_token" in given:
            claims = check_id_token(provider, given["id_token"], nonce=None)
        if described.get("userinfo_endpoint"):
            claims |= server.ask_about_person(provider, described["userinfo_endpoint"], kept.get("access_token", ""))
    except ProviderRefused as refusal:
        return Said(vouches=False, reason=f"the provider refuses it: {refusal.error}")
    except Unauthenticated as refusal:
        return Said(vouches=False, reason=str(refusal))
    if not claims:
        return Said(vouches=True)  # it refreshes the session, and says nothing of the person
    if claims.get("sub") != credential.account.subject:
        return Said(vouches=False, reason="the provider speaks of somebody else")
    return Said(vouches=True, claims=claims)


def ask_by_token(provider: IdentityProvider, token: AccessClaims, raw: str) -> Said:
    """Ask about an access token; raises ProviderAway and Unavailable."""
    if not provider.check_tokens:
        return Said(vouches=True, claims=token.claims)
    described = known(provider).described
    claims = dict(token.claims)
    try:
        if described.get("introspection_endpoint") and provider.secret:
            answer = server.ask_about_token(provider, described["introspection_endpoint"], raw)
            if answer.get("active") is not True:
                return Said(vouches=False, reason="the provider says that the token is not active")
            if answer.get("sub", token.subject) != token.subject:
                return Said(vouches=False, reason="the provider speaks of somebody else")
            claims |= answer
            if groups_in(provider, answer) is not None or not described.get("userinfo_endpoint"):
                return Said(vouches=True, claims=claims)
            return Said(vouches=True, claims=claims | _person_if_allowed(provider, described, token, raw))
        if not described.get("userinfo_endpoint"):
            return Said(vouches=False, reason="the provider can't be asked about tokens; see check_tokens")
        person = server.ask_about_person(provider, described["userinfo_endpoint"], raw)
    except ProviderRefused as refusal:
        return Said(vouches=False, reason=f"the provider refuses it: {refusal.error}")
    if person.get("sub") != token.subject:
        return Said(vouches=False, reason="the provider speaks of somebody else")
    return Said(vouches=True, claims=claims | person)


def _person_if_allowed(
    provider: IdentityProvider, described: dict[str, Any], token: AccessClaims, raw: str
) -> dict[str, Any]:
    """The person's claims, where the token may be used to ask for them (it has the scope openid)."""
    if "openid" not in token.scopes:
        return {}
    try:
        person = server.ask_about_person(provider, described["userinfo_endpoint"], raw)
    except ProviderRefused as refusal:
        logger.info("%s says nothing more of a token that it calls active: %s", provider.id, refusal.error)
        return {}
    return person if person.get("sub") == token.subject else {}


def refused() -> Unauthenticated:
    """The refusal of whom the provider does not vouch for any more."""
    return Unauthenticated(
        _("The identity provider does not vouch for this account any more. Sign in there again."),
        code="provider_session_ended",
    )


def ensure_session_vouched(credential_id: int) -> None:
    """Return when the provider vouches for a session. Raises Unauthenticated and Unavailable, as above."""
    found = ProviderCredential.objects.select_related("account__user").defer("tokens").filter(pk=credential_id).first()
    if found is None:
        raise refused()
    ensure_vouched(found)
