"""The documents that a review compares its document with."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from knowledge.models import DocumentVersion
from review.models.reviews import Review


class RelatedVersion(models.Model):
    """One related document of a review, in the version that was current when the review was started.

    ``document_id_text`` and ``version_number`` stay when the document is deleted.
    """

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="related")
    position = models.PositiveSmallIntegerField()
    version = models.ForeignKey(DocumentVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    document_id_text = models.CharField(_("document id"), max_length=40, editable=False, db_index=True)
    version_number = models.PositiveIntegerField(_("document version"), editable=False)

    class Meta:
        verbose_name = _("related document")
        verbose_name_plural = _("related documents")
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["review", "document_id_text"], name="related_document_once_per_review")
        ]

    def __str__(self) -> str:
        return f"{self.document_id_text} v{self.version_number}"
