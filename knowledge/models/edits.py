"""What was said of documents before and after somebody changed it."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from hub.access.principals import Classification
from knowledge.models.documents import Document


class DocumentEdit(models.Model):
    """What people wrote before and after a change. The audit trail, whose line names it, has neither.

    ``values`` has [before, after] by field: title, metadata. ``collection_ids`` are those that the document was in
    before and after, ``classification`` the higher one: who may not read such a document doesn't see the values.
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="edits")
    values = models.JSONField()
    collection_ids = ArrayField(models.BigIntegerField())
    classification = models.PositiveSmallIntegerField(choices=Classification.choices)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"{self.document_id}: {', '.join(sorted(self.values))}"
