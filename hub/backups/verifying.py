"""Whether a backup is one: it is restored into a hub of its own, which is gone afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from dotenv import dotenv_values

from hub.backups.errors import BackupFailed, RestoreRefused
from hub.backups.folder import Backup
from hub.config import BASE_DIR

# What would lead the scratch hub to the database, the store, the queue or the people of the real one.
NOT_TAKEN: tuple[str, ...] = ("DATABASE_", "POSTGRES_", "REDIS_", "S3_", "ALERT_", "NEO4J_", "HUB_BACKUP_", "HUB_ENV")
NOT_TAKEN += ("SECRET_KEY", "HUB_READY_FILE", "HUB_AUDIT_ANCHORS", "HUB_TEMP_DIR", "HUB_TOKEN")


def opening_file(encrypt_to: str, identity: Path | None) -> Path | None:
    """Give the file that opens backups which are encrypted so: the identity, or the passphrase's own file.

    :raises RestoreRefused: it is encrypted to keys and no identity is given, or the file opens nothing.
    """
    if not encrypt_to:
        return None
    found = identity or (None if encrypt_to.startswith("age1") else Path(encrypt_to))
    if found is None:
        raise RestoreRefused(
            _("What is encrypted to keys is verified with the identity alone: name its file (HUB_BACKUP_IDENTITY).")
        )
    return found


def verify_backup(backup: Backup, identity: Path | None) -> dict[str, Any]:
    """Restore a backup into a scratch hub (embedded PostgreSQL, local files) and give what the restore said.

    It takes as much room in the temporary folder (TMPDIR) as the hub itself.

    :raises BackupFailed: it could not be restored; the message has why.
    """
    with TemporaryDirectory(prefix="hub-verify-") as scratch:
        command = [sys.executable, "manage.py", "restore", str(backup.path), "--json"]
        command += ["--identity", str(identity.expanduser().absolute())] if identity else []
        done = subprocess.run(
            command, cwd=BASE_DIR, env=_environment(Path(scratch)), capture_output=True, text=True, check=False
        )
    try:
        facts: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        raise BackupFailed(_("The backup could not be restored: {reason}"), reason=done.stderr.strip()) from error
    return facts


def _environment(data_dir: Path) -> dict[str, str]:
    """The settings of this process, but for those that name its data."""
    file = settings.CONFIG.hub_env_file or BASE_DIR / ".env"
    written = {name.upper(): value for name, value in dotenv_values(file).items() if value}
    given = {name: value for name, value in (written | os.environ).items() if not name.startswith(NOT_TAKEN)}
    own = {"SECRET_KEY": settings.SECRET_KEY, "HUB_DATA_DIR": str(data_dir), "HUB_ENV_FILE": os.devnull}
    return given | own
