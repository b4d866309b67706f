"""The second factor of local accounts: codes of an authenticator (TOTP, RFC 6238), and recovery codes.

Its secret is encrypted in the table, recovery codes are hashes. A code opens once. Wrong codes count as wrong passwords
do, so a guesser meets the same brake.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from datetime import timedelta
from urllib.parse import quote, urlencode

import segno
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from hub.access.factor_models import Authenticator, RecoveryCode
from hub.access.people import may_set_password
from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import Forbidden, InvalidInput

SECRET_BYTES = 20
STEP_S = 30
DIGITS = 6
STEPS_OFF = 1  # clocks differ: the code before and the next one are taken, too
RECOVERY_CODES = 10
SET_UP_WITHIN = timedelta(minutes=15)
_WAITING = {"confirmed_at": None}
_RECOVERY_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
_RECOVERY_CHARS = 12


def has_second_factor(user: User) -> bool:
    """Whether a person has confirmed an authenticator. One query."""
    return Authenticator.objects.filter(user=user, confirmed_at__isnull=False).exists()


def must_have_second_factor(user: User) -> bool:
    """Whether HUB_SECOND_FACTOR asks a person with a local password for one."""
    wanted = settings.CONFIG.hub_second_factor
    return bool(wanted == "everybody" or (wanted == "superusers" and user.is_superuser))


def begin(user: User) -> str:
    """Give the secret for an authenticator that is to be set up. It is given once and is new each time.

    The caller has checked the password: who only took a session must neither read the key that the person is about to
    confirm, nor put one of theirs in its place.

    :raises InvalidInput: the person has one already.
    """
    secret = base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()
    with transaction.atomic():
        row, _made = Authenticator.objects.select_for_update().get_or_create(user=user, defaults={"secret": secret})
        if row.confirmed_at is not None:
            raise InvalidInput(_("There is an authenticator already; remove it first."), field="code")
        row.secret, row.last_step, row.begun_at = secret, 0, timezone.now()
        row.save()
    return secret


def is_waiting(user: User) -> bool:
    """Whether an authenticator that is being set up waits for its first code. One query."""
    return Authenticator.objects.filter(user=user, **_WAITING, begun_at__gt=timezone.now() - SET_UP_WITHIN).exists()


def address_of(user: User, secret: str) -> str:
    """Give the otpauth address that authenticators read, as the picture has it."""
    host = settings.CONFIG.public_url.partition("://")[2]
    label = quote(f"Hub {host}:{user.get_username()}")
    return f"otpauth://totp/{label}?{urlencode({'secret': secret, 'issuer': f'Hub {host}'})}"


def picture_of(address: str) -> SafeString:
    """Draw an address as a QR code, in SVG; made here, nobody else sees it."""
    drawn: str = segno.make(address, error="m").svg_inline(scale=5, border=4, dark="#000", light="#fff")
    return mark_safe(drawn)  # noqa: S308 (segno draws squares, it writes no text of the address)


def confirm(principal: Principal, user: User, code: str) -> list[str]:
    """Take the first code of a new authenticator, which is asked for from now on; gives the recovery codes, once.

    :raises InvalidInput: the code is wrong, or the set-up began longer than `SET_UP_WITHIN` ago.
    """
    with transaction.atomic():
        row = Authenticator.objects.select_for_update().filter(user=user, **_WAITING).first()
        if row is None or row.begun_at <= timezone.now() - SET_UP_WITHIN:
            raise InvalidInput(_("The set-up took too long, or was begun anew. Take the new picture."), field="code")
        step = _step_of(row, code)
        if step is None:
            raise InvalidInput(
                _("The code is wrong. Check the clock of the device, and enter the code of now."), field="code"
            )
        row.last_step, row.confirmed_at = step, timezone.now()
        row.save(update_fields=["last_step", "confirmed_at"])
        record_event(principal, "ACCOUNT_FACTOR_SET", f"user:{user.pk}")
        return _new_recovery_codes(user)


def remove(principal: Principal, user: User) -> None:
    """Remove a person's authenticator and recovery codes; their own, or those of whose password one may set.

    :raises Forbidden: it is another's.
    """
    if principal.user_id != user.pk and not may_set_password(principal, user):
        raise Forbidden(_("Only administrators remove the second factor of others."))
    with transaction.atomic():
        gone, _by_model = Authenticator.objects.filter(user=user).delete()
        RecoveryCode.objects.filter(user=user).delete()
        if gone:
            record_event(principal, "ACCOUNT_FACTOR_REMOVE", f"user:{user.pk}")


def accepts(user: User, code: str) -> bool:
    """Whether a code, or a recovery code, is right; it is used up by that. Call in a transaction."""
    row = Authenticator.objects.select_for_update().filter(user=user, confirmed_at__isnull=False).first()
    if row is None:
        return False
    # First, because they help where the secret can't be decrypted any more.
    unused = RecoveryCode.objects.filter(user=user, digest=_digest(user, code), used_at=None)
    if unused.update(used_at=timezone.now()):
        return True
    step = _step_of(row, code)
    if step is not None:
        row.last_step = step
        row.save(update_fields=["last_step"])
    return step is not None


def recovery_codes_left(user: User) -> int:
    """Count the recovery codes that were not used yet."""
    return RecoveryCode.objects.filter(user=user, used_at=None).count()


def code_at(secret: str, step: int) -> str:
    """Give the code of a time step (RFC 4226 with SHA-1, which is what authenticators know)."""
    key = base64.b32decode(secret)
    mac = hmac.new(key, step.to_bytes(8, "big"), hashlib.sha1).digest()
    offset = mac[-1] & 15
    number = int.from_bytes(mac[offset : offset + 4], "big") & 0x7FFFFFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def _step_of(row: Authenticator, code: str) -> int | None:
    """The time step of a right code that is later than the last one that was used."""
    given = "".join(code.split())
    now = int(time.time()) // STEP_S
    for step in range(now - STEPS_OFF, now + STEPS_OFF + 1):
        if step > row.last_step and hmac.compare_digest(code_at(row.secret, step).encode(), given.encode()):
            return step
    return None


def _new_recovery_codes(user: User) -> list[str]:
    RecoveryCode.objects.filter(user=user).delete()
    made = [
        "".join(secrets.choice(_RECOVERY_ALPHABET) for _at in range(_RECOVERY_CHARS)) for _n in range(RECOVERY_CODES)
    ]
    RecoveryCode.objects.bulk_create([RecoveryCode(user=user, digest=_digest(user, code)) for code in made])
    return [f"{code[:4]}-{code[4:8]}-{code[8:]}" for code in made]


def _digest(user: User, code: str) -> str:
    """The hash of a recovery code; they are random (59 bits), so that a slow hash would add nothing."""
    plain = "".join(code.split()).replace("-", "").lower()
    return hashlib.sha256(f"recovery:{user.pk}:{plain}".encode()).hexdigest()
