"""Backups by the clock, and what is known of those that were made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from hub.access.principals import Principal, system_principal
from hub.backups.models import BackupRun
from hub.backups.progress import Watch, unwatched
from hub.backups.taking import Made, make_backup
from hub.backups.verifying import opening_file, verify_backup
from hub.core.errors import Conflict, HubError

AGAIN_AFTER_A_FAILURE = timedelta(minutes=30)
RUNS_KEPT = 400
ERROR_CHARS = 2000


class Recorded(NamedTuple):
    """A backup that was made, what its restore for proof said (None without), and why the backup is not good, or ""."""

    made: Made
    verified: dict[str, Any] | None
    problem: str


def recorded_backup(
    principal: Principal,
    path: Path,
    *,
    encrypt_to: str = "",
    with_keys: bool = False,
    keep: int | None = None,
    compress: bool = True,
    verify: bool = False,
    identity: Path | None = None,
    progress: Watch = unwatched,
) -> Recorded:
    """Make a backup as `make_backup` does, and keep how it went, for doctor, the front page, metrics and alerts.

    With ``verify`` it is restored into a hub of its own, and is good only where that is the same; ``identity`` opens
    what is encrypted to keys. Another one that is under way (Conflict) is nobody's failure.
    """
    opens_with = opening_file(encrypt_to, identity) if verify else None
    try:
        made = make_backup(
            principal,
            path,
            encrypt_to=encrypt_to,
            with_keys=with_keys,
            keep=keep,
            compress=compress,
            progress=progress,
        )
    except Conflict:
        raise
    except (HubError, OSError) as error:
        BackupRun.objects.create(path=str(path), error=str(error)[:ERROR_CHARS], is_encrypted=bool(encrypt_to))
        raise
    lost = [*made.manifest.missing, *made.manifest.damaged]
    named = ", ".join(lost[:3])
    lost_text = _("{count} stored files are missing or damaged: {names}").format(count=len(lost), names=named)
    verified, differs = _verified(made, opens_with) if verify else (None, "")
    problem = lost_text if lost else differs
    BackupRun.objects.create(
        name=made.backup.name,
        path=str(made.backup.root),
        is_encrypted=bool(encrypt_to),
        taken_at=made.manifest.taken_at,
        files=made.manifest.files,
        file_bytes=made.manifest.file_bytes,
        error=problem[:ERROR_CHARS],
        verified_at=timezone.now() if verified is not None and not differs else None,
    )
    newest = BackupRun.objects.order_by("-pk").values_list("pk", flat=True)[:RUNS_KEPT]
    BackupRun.objects.exclude(pk__in=list(newest)).delete()
    return Recorded(made, verified, problem)


def _verified(made: Made, identity: Path | None) -> tuple[dict[str, Any] | None, str]:
    """Restore a backup for proof; gives what the restore said, and why the backup is not good, or ""."""
    try:
        facts = verify_backup(made.backup, identity)
    except HubError as error:
        return None, str(error)
    return facts, "" if facts["equal"] else str(_("The hub that was restored from it for proof is not the same."))


def last_good() -> BackupRun | None:
    """Give the newest backup in which nothing was missing. One query."""
    return BackupRun.objects.filter(error="", taken_at__isnull=False).order_by("-taken_at").first()


@dataclass(frozen=True, slots=True)
class BackupState:
    """How it is with backups: the last good one, and since when one is overdue (HUB_BACKUP_LATE_HOURS), if one is."""

    good: BackupRun | None
    late_since: datetime | None


def backup_state() -> BackupState:
    """Say how it is with backups. Two queries at most; none is late where none is scheduled."""
    good = last_good()
    if not settings.CONFIG.hub_backup_dir:
        return BackupState(good, None)
    begin = good.taken_at if good else _first_due()
    if begin is None:
        return BackupState(good, None)
    due = begin + timedelta(hours=settings.CONFIG.hub_backup_late_hours)
    return BackupState(good, due if due < timezone.now() else None)


def _first_due() -> datetime | None:
    """Without a good one: when the first try ended, or None before any."""
    first = BackupRun.objects.order_by("finished_at").first()
    return first.finished_at if first else None


def is_due(now: datetime) -> bool:
    """Whether the time of day of HUB_BACKUP_AT has passed since the last good one, and no try has failed just now."""
    if not settings.CONFIG.hub_backup_dir:
        return False
    local = timezone.localtime(now)
    hour, minute = map(int, settings.CONFIG.hub_backup_at.split(":"))
    moment = local.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if moment > local:
        moment -= timedelta(days=1)
    good = last_good()
    if good is not None and good.taken_at is not None and good.taken_at >= moment:
        return False
    return not BackupRun.objects.exclude(error="").filter(finished_at__gt=now - AGAIN_AFTER_A_FAILURE).exists()


def back_up_when_due() -> bool:
    """Make the day's backup of the schedule; False when it is not due, or another process makes it.

    :raises HubError, OSError: it failed; it is tried again half an hour later.
    """
    if not is_due(timezone.now()):
        return False
    config = settings.CONFIG
    assert config.hub_backup_dir is not None  # noqa: S101 (or it were not due)
    try:
        recorded_backup(
            system_principal("backup"),
            config.hub_backup_dir,
            encrypt_to=config.hub_backup_encrypt_to,
            keep=config.hub_backup_keep,
            verify=config.hub_backup_verify,
            identity=config.hub_backup_identity,
        )
    except Conflict:
        return False
    return True
