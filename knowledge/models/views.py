"""Ways of looking at the list of documents that people keep for themselves."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.core.bounds import longest_text
from hub.core.given_fields import GivenText

LONGEST_VIEW_NAME = 60
LONGEST_VIEW_QUERY = 1_000


class DocumentView(models.Model):
    """A person's own name for a query of the list of documents, as its address has it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="document_views")
    name = GivenText(_("name"), max_length=LONGEST_VIEW_NAME)
    query = GivenText(max_length=LONGEST_VIEW_QUERY, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="one_document_view_per_name"),
            longest_text("name", LONGEST_VIEW_NAME),
            longest_text("query", LONGEST_VIEW_QUERY),
        ]

    def __str__(self) -> str:
        return self.name
