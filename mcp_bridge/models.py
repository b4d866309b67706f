"""Curated texts of the MCP prompts."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.core.publication import PublicationStatus
from mcp_bridge.prompts.templates import Template


class PromptVersion(models.Model):
    """One version of a prompt's text in both languages; of each text at most one version is published.

    Once published its texts are never changed: a new version is made of it.
    """

    template = models.CharField(_("prompt"), max_length=60, choices=[(one.value, one.value) for one in Template])
    number = models.PositiveIntegerField(_("version"), default=1, editable=False)
    status = models.CharField(
        _("state"), max_length=10, choices=PublicationStatus.choices, default=PublicationStatus.DRAFT, editable=False
    )
    text_ja = models.TextField(_("text (ja)"))
    text_en = models.TextField(_("text (en)"))
    note = models.CharField(_("reason for the change"), max_length=300, blank=True)
    is_shipped = models.BooleanField(_("as shipped"), default=False, editable=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("author"),
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    published_at = models.DateTimeField(_("published"), null=True, editable=False)

    class Meta:
        verbose_name = _("prompt for assistants")
        verbose_name_plural = _("prompts for assistants")
        ordering = ["template", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["template", "number"], name="one_mcp_prompt_per_number"),
            models.UniqueConstraint(
                fields=["template"], condition=Q(status="published"), name="one_published_mcp_prompt"
            ),
            models.UniqueConstraint(fields=["template"], condition=Q(status="draft"), name="one_draft_mcp_prompt"),
        ]

    def __str__(self) -> str:
        return f"{self.template} v{self.number}"

    @property
    def texts(self) -> dict[str, str]:
        """The text by language."""
        return {"ja": self.text_ja, "en": self.text_en}
