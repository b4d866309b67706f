"""How long an access token opens anything: until its end, and as long as its owner's password stays the same.

A token keeps a stamp of the password that its owner had when it was made. The query that finds the token compares it,
so it holds however the password was changed: on a page, by a command, or in the database itself.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import BooleanField, CharField, ExpressionWrapper, F, Func, Q
from django.db.models.signals import pre_save
from django.utils.translation import gettext_lazy as _

from hub.access.models import AccessToken
from hub.core.errors import InvalidInput


class _Stamp(Func):
    template = "encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')"
    output_field = CharField()


# Whether the owner's password is the one of the day when the token was made; for queries of AccessToken.
HAS_PASSWORD_OF_ITS_DAY = ExpressionWrapper(Q(password_stamp=_Stamp(F("user__password"))), output_field=BooleanField())


def password_stamp(user: User) -> str:
    """Give what a token of this person keeps of their password: the sha256 of its salted hash."""
    return _stamp_of(user.password)


def _stamp_of(encoded: str) -> str:
    return hashlib.sha256(encoded.encode()).hexdigest()


def last_possible_end(now: datetime) -> datetime:
    """Give the latest moment until which a token that is made now may last."""
    return now + timedelta(days=settings.CONFIG.hub_token_max_days)


def end_of_token(wanted: datetime | None, *, now: datetime) -> datetime:
    """Give when a token that is made now ends: as wanted, or as late as possible.

    :raises InvalidInput: that is in the past, or more than HUB_TOKEN_MAX_DAYS ahead.
    """
    last = last_possible_end(now)
    if wanted is None:
        return last
    if wanted <= now:
        raise InvalidInput(_("A token must end in the future."), field="expires_at")
    if wanted > last + timedelta(minutes=1):  # a form's suggestion, sent back after some seconds, or rounded up
        raise InvalidInput(
            _("A token lasts {days} days at most (HUB_TOKEN_MAX_DAYS)."),
            field="expires_at",
            days=settings.CONFIG.hub_token_max_days,
        )
    return min(wanted, last)


def keep_tokens_when_a_hash_is_renewed() -> None:
    """Let tokens go on when the same password is only hashed anew, as Django does at a sign-in. Repeatable."""
    pre_save.connect(_renew_stamps, sender=User, dispatch_uid="access-password-stamps")


def _renew_stamps(*, instance: User, update_fields: frozenset[str] | None, **_signal: object) -> None:
    # Django's own mark of a renewal: the raw password was set and taken back, and nothing else is saved.
    is_renewal = update_fields == frozenset({"password"}) and instance.__dict__.get("_password", "") is None
    if not is_renewal:
        return
    before = User.objects.filter(pk=instance.pk).values_list("password", flat=True).first()
    if before is not None:
        tokens = AccessToken.objects.filter(user_id=instance.pk, password_stamp=_stamp_of(before))
        tokens.update(password_stamp=password_stamp(instance))
