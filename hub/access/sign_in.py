"""The brake on guessing passwords, and the audit lines of signing in and out. django-axes calls it; see hub.settings.

Wrong passwords are counted in PostgreSQL by user name. After HUB_SIGN_IN_FAILURES of them from one address that address
waits; after HUB_SIGN_IN_FAILURES_ANYWHERE from all addresses together every address waits from which the person has not
signed in lately, so that a guesser with many addresses locks nobody out of their own office. Tries that are refused
count for nothing, so a wait ends HUB_SIGN_IN_WAIT_MINUTES after the last that was not. Unknown names are treated alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from hub.access.models import AuditEvent
from hub.access.people import check_rank
from hub.access.principals import Classification, HubRight, Principal
from hub.access.services import record_event
from hub.core.context import current_call
from hub.core.lease import try_lock

KNOWN_FOR = timedelta(days=30)
NO_ADDRESS = "::"  # what axes counts by must not be null
UNKNOWN_NAME_CHARS = 3  # of a name that nobody has: now and then it is a password in the wrong field


def client_address(request: HttpRequest) -> str:
    """Give the client's address as the running call knows it."""
    call = current_call()
    return (call.address if call else None) or NO_ADDRESS


def locked_until(request: HttpRequest, username: str) -> datetime | None:
    """Say until when sign-ins as ``username`` from this request's address are refused; None when they are not."""
    config = settings.CONFIG
    tries = AccessAttempt.objects.filter(username=username)
    address = client_address(request)
    here = _end_of_wait(tries.filter(ip_address=address), config.hub_sign_in_failures)
    anywhere = _end_of_wait(tries, config.hub_sign_in_failures_anywhere)
    if anywhere is not None and _is_known(username, address):
        anywhere = None
    return max((end for end in (here, anywhere) if end is not None), default=None)


def _end_of_wait(tries: QuerySet[AccessAttempt], most: int) -> datetime | None:
    wait = settings.AXES_COOLOFF_TIME
    recent = tries.filter(attempt_time__gte=timezone.now() - wait).order_by("-attempt_time")
    failures = 0
    for at, count in recent.values_list("attempt_time", "failures_since_start"):
        failures += count
        if failures >= most:
            end: datetime = at + wait
            return end
    return None


def _is_known(username: str, address: str) -> bool:
    """Return whether the person has signed in from this address lately."""
    signed_in = AuditEvent.objects.filter(action="LOGIN", user__username=username, address=address)
    return address != NO_ADDRESS and signed_in.filter(at__gte=timezone.now() - KNOWN_FOR).exists()


@contextmanager
def only_sign_in_as(username: str) -> Iterator[None]:
    """Hold the sign-ins as ``username`` for the block, so that what is tried at once is counted one after the other.

    What the block writes is kept if it ends without an error.

    :raises ValidationError: another one is being checked; waiting for it would hold up a request's thread.
    """
    with transaction.atomic():
        if not try_lock(f"sign-in:{username}"):
            raise ValidationError(_("Another password for this name is being checked. Try again."), code="busy")
        yield


def wait_message(until: datetime) -> str:
    """Say how long to wait, in the reader's language."""
    minutes = max(1, ceil((until - timezone.now()).total_seconds() / 60))
    return _("Too many wrong passwords. Try again in %(minutes)d minutes, or ask an administrator to end the wait.") % {
        "minutes": minutes
    }


def locked_response(
    request: HttpRequest, original_response: HttpResponseBase, credentials: dict[str, Any] | None
) -> HttpResponseBase:
    """Send the page that was made, its form says how long to wait, as 429 with Retry-After."""
    until = locked_until(request, str((credentials or {}).get("username", "")))
    if until is not None:
        original_response.status_code = 429
        original_response["Retry-After"] = str(max(1, ceil((until - timezone.now()).total_seconds())))
    return original_response


def end_wait(*, principal: Principal, username: str) -> int:
    """Forget the wrong passwords that were given for ``username``; gives the number of address and browser pairs.

    :raises Forbidden: the caller does not administer people, or this one is a superuser, and the caller is none.
    """
    principal.require_hub(HubRight.PEOPLE)
    check_rank(principal, User.objects.filter(username=username).first())
    forgotten: int = AccessAttempt.objects.filter(username=username).delete()[0]
    record_event(principal, "LOGIN_UNLOCK", _resource(_user_id(username)), name=username)
    return forgotten


def record_refused_provider(provider_id: str, reason: str) -> None:
    """Record that a sign-in at an identity provider was refused; whose it was is not known."""
    nobody = Principal(name=f"provider:{provider_id}", user_id=None, scopes=frozenset(), ceiling=Classification.C1)
    record_event(nobody, "LOGIN_FAILED", "", reason=reason[:300])


class SignInGuard(AxesDatabaseHandler):  # type: ignore[misc]  # axes has no types
    """What axes asks and returns: whether a sign-in is allowed, and how it ended."""

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """Give the limit of axes when the sign-in is refused, else 0: the two bounds are ours.

        Who comes from an identity provider gives no name that could be guessed at.
        """
        username = (credentials or {}).get("username")
        if username is None:
            return 0
        return int(settings.AXES_FAILURE_LIMIT) if locked_until(request, str(username)) else 0

    def reset_user_attempts(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """Forget, after the right password, the wrong ones of this address; a guesser elsewhere gains nothing."""
        username = str((credentials or {}).get("username", ""))
        rows = AccessAttempt.objects.filter(username=username, ip_address=client_address(request))
        forgotten: int = rows.delete()[0]
        return forgotten

    def user_login_failed(
        self, sender: object, credentials: dict[str, Any], request: HttpRequest | None = None, **signal: object
    ) -> None:
        """Count and record a wrong password. Of a wait the beginning is recorded, not each try that it refuses."""
        was_refused = bool(getattr(request, "axes_locked_out", False))
        super().user_login_failed(sender, credentials, request, **signal)
        if request is None or was_refused:
            return
        username = str(credentials.get("username", ""))
        _record("LOGIN_FAILED", username)
        until = locked_until(request, username)
        if until is not None:
            _record("LOGIN_LOCKED", username, until=until.isoformat(timespec="seconds"))

    def user_logged_in(self, sender: object, request: HttpRequest, user: AbstractBaseUser, **signal: object) -> None:
        """Record who signed in."""
        super().user_logged_in(sender, request, user, **signal)
        account = getattr(request, "provider_account", None)
        _record("LOGIN", user.get_username(), **({"provider": account.provider} if account else {}))

    def user_logged_out(
        self, sender: object, request: HttpRequest, user: AbstractBaseUser | None, **signal: object
    ) -> None:
        """Record who signed out; the session of nobody ends without a line."""
        super().user_logged_out(sender, request, user, **signal)
        if user is not None:
            _record("LOGOUT", user.get_username())


def _record(action: str, username: str, **details: object) -> None:
    user_id = _user_id(username)
    name = username if user_id is not None else username[:UNKNOWN_NAME_CHARS] + "…"
    who = Principal(name=name[:150], user_id=user_id, scopes=frozenset(), ceiling=Classification.C1)
    record_event(who, action, _resource(user_id), **details)


def _user_id(username: str) -> int | None:
    return User.objects.filter(username=username).values_list("pk", flat=True).first()


def _resource(user_id: int | None) -> str:
    return f"user:{user_id}" if user_id is not None else ""
