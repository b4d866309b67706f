"""Files that one person handed in together."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

LONGEST_BATCH_NAME = 40


class UploadBatch(models.Model):
    """The versions that came in together, under a name that the uploader chooses. Others do not see it."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+")
    name = models.CharField(max_length=LONGEST_BATCH_NAME, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], nulls_distinct=False, name="one_batch_per_name")
        ]

    def __str__(self) -> str:
        return self.name
