"""How the hub fares, minute by minute, for those who run it."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class OperationSample(models.Model):
    """What was to be seen at the begin of a minute (``waiting``, bytes), and what ended in the minute before it.

    ``free_bytes`` is null where the disk is not this machine's. ``searches`` are the sums of all searches so far by
    the upper bound of their seconds, as the shared measures have them; empty while these can't be read. ``sums`` has
    what models cost and how many questions had an answer and none, so far; null in samples of before they were kept.
    """

    at = models.DateTimeField(unique=True)
    waiting = models.PositiveIntegerField()
    finished = models.PositiveIntegerField()
    failed = models.PositiveIntegerField()
    stored_bytes = models.PositiveBigIntegerField()
    free_bytes = models.PositiveBigIntegerField(null=True)
    searches = models.JSONField(default=dict)
    sums = models.JSONField(null=True)

    class Meta:
        verbose_name = _("sample of the operation")
        verbose_name_plural = _("samples of the operation")
        ordering = ["at"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"
