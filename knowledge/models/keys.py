"""Master keys of stored files that were ended."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class EndedKey(models.Model):
    """A master key that was shown to open nothing any more, and that nothing is put under again."""

    key_id = models.CharField(max_length=200, primary_key=True)
    ended_at = models.DateTimeField(default=timezone.now)
    ended_by = models.CharField(max_length=150)

    def __str__(self) -> str:
        return self.key_id
