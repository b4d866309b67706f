"""What a provider says of itself and its keys: fetched seldom, kept in the database, read from there by all processes.

A key that is not known yet is asked for at once, but at most every 30 s of all processes together. Where the provider
does not answer, what was fetched last counts for HUB_OIDC_AWAY_MINUTES.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.provider_models import ProviderState
from hub.access.providers.server import ProviderAway, ProviderRefused, discover, fetch_keys
from hub.core.errors import Unavailable
from hub.core.identity_providers import IdentityProvider

logger = logging.getLogger(__name__)

FRESH_FOR = timedelta(minutes=15)
RETRY_AFTER = timedelta(seconds=30)
READ_AGAIN_S = 15.0
LONGEST_REASON = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A provider's description (its endpoints) and its public keys, as they were at ``fetched_at``."""

    described: dict[str, Any]
    keys: tuple[dict[str, Any], ...]
    fetched_at: datetime

    def key(self, kid: str | None) -> dict[str, Any] | None:
        """Give the key of this id; without an id the only key there is."""
        usable = [key for key in self.keys if key.get("use", "sig") == "sig"]
        if kid is None:
            return usable[0] if len(usable) == 1 else None
        return next((key for key in usable if key.get("kid") == kid), None)


_memory: dict[tuple[str, str], tuple[float, Known]] = {}
_lock = threading.Lock()


def forget() -> None:
    """Forget what this process has read; what is stored stays."""
    with _lock:
        _memory.clear()


def known(provider: IdentityProvider, *, kid: str | None = None) -> Known:
    """Give what is known of a provider; with ``kid``, after asking again where that key is not among its keys.

    Not to be called in a transaction, or on an event loop: it may ask the provider.

    :raises Unavailable: nothing is known, or what is known is older than HUB_OIDC_AWAY_MINUTES and it does not answer.
    """
    found = _remembered(provider) or _stored(provider)
    now = timezone.now()
    lacks_key = kid is not None and (found is None or found.key(kid) is None)
    if found is None or lacks_key or now - found.fetched_at > FRESH_FOR:
        found = _fetched(provider, found, now=now, is_urgent=found is None)
    if now - found.fetched_at > timedelta(minutes=settings.CONFIG.hub_oidc_away_minutes):
        raise away(provider, _failure(provider))
    return found


def _remembered(provider: IdentityProvider) -> Known | None:
    with _lock:
        read_at, found = _memory.get((provider.id, provider.issuer), (0.0, None))
    return found if found is not None and time.monotonic() - read_at < READ_AGAIN_S else None


def _stored(provider: IdentityProvider) -> Known | None:
    row = ProviderState.objects.filter(provider=provider.id, fetched_at__isnull=False).first()
    if row is None or row.fetched_at is None or row.described.get("issuer") != provider.issuer:
        return None
    return _remember(provider, Known(described=row.described, keys=tuple(row.keys), fetched_at=row.fetched_at))


def _remember(provider: IdentityProvider, found: Known) -> Known:
    with _lock:
        _memory[provider.id, provider.issuer] = (time.monotonic(), found)
    return found


def _fetched(provider: IdentityProvider, before: Known | None, *, now: datetime, is_urgent: bool) -> Known:
    """Ask the provider, unless somebody has just done so. Raises Unavailable when there is nothing from before."""
    ProviderState.objects.get_or_create(provider=provider.id)
    due = Q(attempted_at__isnull=True) | Q(attempted_at__lt=now - RETRY_AFTER)
    mine = ProviderState.objects.filter(due, provider=provider.id).update(attempted_at=now)
    if not mine:
        stored = _stored(provider) or before
        if stored is None and not is_urgent:
            raise away(provider, _failure(provider))
        if stored is not None:
            return stored
    try:
        described = discover(provider)
        keys = fetch_keys(provider, described["jwks_uri"])
    except (ProviderAway, ProviderRefused) as error:
        logger.warning("the identity provider %s can't be asked for its keys: %s", provider.id, error)
        ProviderState.objects.filter(provider=provider.id).update(failure=str(error)[:LONGEST_REASON])
        if before is None:
            raise away(provider, str(error)) from error
        return before
    fetched = Known(described=described, keys=tuple(keys), fetched_at=timezone.now())
    ProviderState.objects.filter(provider=provider.id).update(
        described=described, keys=keys, fetched_at=fetched.fetched_at, failure=""
    )
    return _remember(provider, fetched)


def _failure(provider: IdentityProvider) -> str:
    return ProviderState.objects.filter(provider=provider.id).values_list("failure", flat=True).first() or "-"


def away(provider: IdentityProvider, reason: str) -> Unavailable:
    """The refusal of what can't be checked while a provider does not answer."""
    return Unavailable(
        _("The identity provider {provider} does not answer, so nobody can be checked by it now: {reason}"),
        code="provider_away",
        provider=provider.name,
        reason=reason,
    )
