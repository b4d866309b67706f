"""Copies of an embedding set in a search engine, and what each has yet to be told."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone


class GenerationStatus(models.TextChoices):
    BUILDING = "building"
    READY = "ready"
    DROPPED = "dropped"


class IndexGeneration(models.Model):
    """A collection of a search engine that holds an embedding set's vectors and terms.

    It is told of every change from the moment it is made, and filled with what was there before, up to the number
    ``filled_to`` so far, once the transactions have ended that may not have known of it: those before ``told_from``,
    their next number when a worker first saw it. ``word_length`` and ``bigram_length`` are the average lengths of the
    two lexical fields that its weights are made with, the same as long as it lives. `EmbeddingSet.generation` is the
    one that searches ask.
    """

    embedding_set = models.ForeignKey("knowledge.EmbeddingSet", on_delete=models.CASCADE, related_name="generations")
    collection = models.CharField(max_length=60, unique=True)
    status = models.CharField(
        max_length=10, choices=GenerationStatus.choices, default=GenerationStatus.BUILDING, db_index=True
    )
    shards = models.PositiveIntegerField()
    copies = models.PositiveIntegerField()
    word_length = models.FloatField()
    bigram_length = models.FloatField()
    told_from = models.BigIntegerField(null=True)
    filled_to = models.IntegerField(default=0)
    failure = models.TextField(blank=True, max_length=500)
    reconciled_at = models.DateTimeField(null=True)
    lease_token = models.CharField(max_length=40, blank=True, editable=False)
    lease_expires_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"{self.pk}: {self.collection}"


class ChangeKind(models.TextChoices):
    PUT = "put"
    DROP = "drop"
    RETAG = "retag"


class IndexChange(models.Model):
    """What a generation has to be told, written by the transaction that changed it: which passages, never values.

    Who sends it reads what is so then. ``numbers`` of passages to put or to drop, or the document whose passages have
    other tags. ``sent_at`` is when all copies had it.
    """

    generation = models.ForeignKey(IndexGeneration, on_delete=models.CASCADE, related_name="changes", db_index=False)
    kind = models.CharField(max_length=5, choices=ChangeKind.choices)
    numbers = ArrayField(models.IntegerField(), default=list)
    document_id = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["generation", "id"], condition=models.Q(sent_at__isnull=True), name="unsent_index_changes"
            ),
            models.Index(fields=["sent_at"], name="sent_index_changes"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.generation_id}"
