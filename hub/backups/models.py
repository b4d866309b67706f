"""Which backups were made, and which failed."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class BackupRun(models.Model):
    """A backup that ended. A backup does not have its own row: it is written when the backup is complete.

    ``taken_at`` is the moment that it shows, None where it failed before; ``error`` is empty when it is good, that is
    when no stored file was missing or damaged, and its restore, if that was tried, gave the same hub: ``verified_at``.
    """

    name = models.CharField(max_length=100, blank=True)
    path = models.CharField(max_length=4096)
    is_encrypted = models.BooleanField(default=False)
    taken_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(default=timezone.now, db_index=True)
    files = models.PositiveBigIntegerField(default=0)
    file_bytes = models.PositiveBigIntegerField(default=0)
    error = models.TextField(blank=True)
    verified_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name or self.error[:100]
