"""Sessions of the admin: noted when they begin, listed, ended; and how lately their person has proved who they are."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.factor_models import HubSession
from hub.access.people import may_set_password
from hub.access.principals import Principal
from hub.access.provider_models import CredentialKind, ProviderCredential
from hub.access.services import record_event
from hub.access.session_store import BEGAN
from hub.core.context import current_call
from hub.core.errors import Forbidden, NotFound

CONFIRMED = "confirmed_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSession:
    """A session as a page shows it; ``handle`` names it, and opens nothing."""

    handle: str
    started_at: datetime | None
    expires_at: datetime
    address: str
    agent: str
    provider: str
    is_own: bool


def note_sign_ins() -> None:
    """Have every session that begins know when and from where. Repeatable."""
    user_logged_in.connect(_note, dispatch_uid="access-session-began")


def _note(*, request: HttpRequest, **_signal: object) -> None:
    call = current_call()
    account = getattr(request, "provider_account", None)
    request.session[BEGAN] = {
        "at": timezone.now().isoformat(),
        "address": (call.address if call else None) or "",
        "agent": ((call.agent if call else None) or "")[:200],
        "provider": account.provider if account else "",
    }
    confirm_now(request)


def confirm_now(request: HttpRequest) -> None:
    """Note that the session's person has just proved who they are."""
    request.session[CONFIRMED] = time.time()


def is_confirmed(request: HttpRequest) -> bool:
    """Whether they have within HUB_CONFIRM_MINUTES."""
    at = float(request.session.get(CONFIRMED, 0))
    return 0 <= time.time() - at < settings.CONFIG.hub_confirm_minutes * 60


def sessions_of(principal: Principal, user: User, *, own_key: str | None) -> list[ShownSession]:
    """List the sessions of a person, the latest first.

    Raises Forbidden unless they are the caller's own, or of somebody whose password the caller may set.
    """
    _require_own(principal, user)
    rows = HubSession.objects.filter(user_id=user.pk, expire_date__gt=timezone.now()).order_by("-started_at")
    return [
        ShownSession(
            handle=_handle(row.session_key),
            started_at=row.started_at,
            expires_at=row.expire_date,
            address=row.address,
            agent=row.agent,
            provider=row.provider,
            is_own=row.session_key == own_key,
        )
        for row in rows
    ]


def end_sessions(principal: Principal, user: User, *, handle: str = "", but_key: str | None = None) -> int:
    """End one session of a person, or all but the one with ``but_key``; gives how many.

    :raises Forbidden: they are another's. :raises NotFound: there is no such session.
    """
    _require_own(principal, user)
    keys = list(HubSession.objects.filter(user_id=user.pk).values_list("session_key", flat=True))
    ended = [key for key in keys if (_handle(key) == handle if handle else key != but_key)]
    if handle and not ended:
        raise NotFound(_("There is no such session."))
    HubSession.objects.filter(session_key__in=ended).delete()
    if ended:
        record_event(principal, "SESSION_END", f"user:{user.pk}", count=len(ended))
    return len(ended)


def prune_credentials(now: datetime) -> int:
    """Remove what ended or expired a day ago; gives how many."""
    day_ago = now - timedelta(days=1)
    session_end = now - timedelta(hours=settings.CONFIG.hub_session_hours, days=1)
    gone = Q(ended_at__lt=day_ago) | Q(expires_at__lt=day_ago)
    idle = Q(kind=CredentialKind.BEARER, checked_at__lt=session_end)
    return ProviderCredential.objects.filter(gone | idle).delete()[0]


def _handle(session_key: str) -> str:
    return hashlib.sha256(f"session:{session_key}".encode()).hexdigest()[:24]


def _require_own(principal: Principal, user: User) -> None:
    if principal.user_id != user.pk and not may_set_password(principal, user):
        raise Forbidden(_("Only administrators see and end the sessions of others."))
