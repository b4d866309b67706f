"""Ending a master key: only when nothing needs it any more, so that it can be thrown away; it is never used again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Count
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.core.encryption.errors import KeyEnded
from hub.core.encryption.master_keys import KMS_PREFIX, keyring
from hub.core.errors import Conflict, NotFound
from hub.core.secrets import secrets_by_key
from knowledge.models import EndedKey, SealedBlob

_LOCK = "hub ended keys"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedReceipt:
    """What was found when a key was ended: how many files and secrets are under which keys, and none under this one."""

    key_id: str
    ended_at: datetime
    ended_by: str
    current: str
    files: dict[str, int]
    secrets: dict[str, int]


@transaction.atomic
def end_key(*, principal: Principal, key_id: str) -> EndedReceipt:
    """Note that a master key opens nothing any more, and let nothing be put under it again. For operators.

    Ending it twice gives the first end. Backups that were made before are not looked at.

    :raises NotFound: it is no key of AWS KMS, and none of the configured ones: its name may be mistyped.
    :raises Conflict: it is the current key, or files or secrets are under it.
    """
    principal.require_hub(HubRight.OPERATION)
    ring = keyring()
    if not key_id.startswith(f"{KMS_PREFIX}arn:") and key_id not in ring:
        raise NotFound(
            _("No configured master key is called {key_id}; see manage.py encryption status."),
            code="key_not_found",
            key_id=key_id[:200],
        )
    current = ring.current.key_id if ring.current else ""
    if key_id == current:
        raise Conflict(_("{key_id} is the current master key. Set another one first, and rotate."), key_id=key_id)
    with connection.cursor() as cursor:  # until nobody is about to put something under it
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [_LOCK])
    files, secrets = files_by_key(), secrets_by_key()
    if count := files.get(key_id, 0) + secrets.get(key_id, 0):
        raise Conflict(
            _("{count} files and secrets are still under {key_id}. Run manage.py encryption rotate first."),
            code="key_in_use",
            count=count,
            key_id=key_id,
        )
    row, is_new = EndedKey.objects.get_or_create(key_id=key_id, defaults={"ended_by": principal.name})
    if is_new:
        found = {"current": current, "files": files, "secrets": secrets}
        record_event(principal, "ENCRYPTION_KEY_END", f"key:{key_id}"[:200], **found)
    return EndedReceipt(
        key_id=key_id, ended_at=row.ended_at, ended_by=row.ended_by, current=current, files=files, secrets=secrets
    )


def files_by_key() -> dict[str, int]:
    """Count encrypted files by the master key that they are under. One query."""
    rows = SealedBlob.objects.exclude(key_id="").order_by("key_id").values_list("key_id")
    return dict(rows.annotate(count=Count("pk")))


def expect_not_ended(key_id: str) -> None:
    """Let nobody end a key until the running transaction ends. :raises KeyEnded: it was. Two queries."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(hashtext(%s))", [_LOCK])
    if EndedKey.objects.filter(pk=key_id).exists():
        raise KeyEnded(
            _("The master key {key_id} was ended; nothing is put under it again. Set another one as the first of "
              "ENCRYPTION_KEY, or as ENCRYPTION_KMS_KEY."),
            key_id=key_id,
        )  # fmt: skip


def ended_but_needed() -> list[str]:
    """Name the ended keys that files or secrets are under, as after a restore of an older backup."""
    ended = set(EndedKey.objects.values_list("pk", flat=True))
    return sorted(ended & {*files_by_key(), *secrets_by_key()})


def ended_but_configured() -> list[str]:
    """Name the ended keys in this hub's memory that are still configured there, and can be taken away."""
    ring = keyring()
    names = EndedKey.objects.exclude(pk__startswith=KMS_PREFIX).order_by("pk").values_list("pk", flat=True)
    return [key_id for key_id in names if key_id in ring]
