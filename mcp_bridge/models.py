"""Curated texts of the MCP prompts."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from hub.core.publication import CuratedVersion
from mcp_bridge.prompts.templates import Template


class PromptVersion(CuratedVersion):
    """One version of a prompt's text in both languages."""

    THING = "template"
    AUDITED_AS = "mcp_prompt"

    template = models.CharField(_("prompt"), max_length=60, choices=[(one.value, one.value) for one in Template])
    text_ja = models.TextField(_("text (ja)"))
    text_en = models.TextField(_("text (en)"))
    note = models.CharField(_("reason for the change"), max_length=300, blank=True)
    is_shipped = models.BooleanField(_("as shipped"), default=False, editable=False)

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

    @property
    def texts(self) -> dict[str, str]:
        """The text by language."""
        return {"ja": self.text_ja, "en": self.text_en}
