from django.utils.translation import gettext_lazy as _

from hub.core.errors import HubError


class BackupFailed(HubError):
    """A backup could not be made, or can't be used as it is."""

    code = "backup_failed"
    title = _("Backup failed")


class RestoreRefused(HubError):
    """Nothing was written: this hub, its keys or its version do not go with the backup."""

    code = "restore_refused"
    status = 409
    title = _("Restore refused")


class BackupDamaged(BackupFailed):
    """A file of the backup is not what was written."""

    code = "backup_damaged"
    title = _("Backup damaged")
