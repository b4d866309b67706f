"""What the hub keeps of its talks with language models."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils import timezone


class RecordedAnswer(models.Model):
    """A checked answer by the hash of what was asked; with it a run is repeated without any model.

    The text is as the model gave it, names of masked values included. It goes with the documents it rests on.
    """

    key = models.CharField(max_length=64, primary_key=True)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=200)
    text = models.TextField()
    finish_reason = models.CharField(max_length=10)
    tokens_in = models.PositiveIntegerField()
    tokens_out = models.PositiveIntegerField()
    usage_is_estimated = models.BooleanField(default=False)
    purpose = models.CharField(max_length=40)
    document_ids = ArrayField(models.CharField(max_length=40), default=list)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [GinIndex(fields=["document_ids"], name="recorded_answer_document")]

    def __str__(self) -> str:
        return self.key


class TokenRate(models.Model):
    """How a model's own token counts compare with the hub's estimates so far."""

    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=200)
    estimated = models.PositiveBigIntegerField(default=0)
    counted = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["provider", "model"], name="one_token_rate_per_model")]

    def __str__(self) -> str:
        return f"{self.provider} {self.model}"
