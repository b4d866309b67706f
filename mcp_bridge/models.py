"""Curated texts of the MCP prompts."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight
from hub.access.versions import CuratedVersion
from hub.core.bounds import PROMPT_TEXT, longest_text
from hub.core.given_fields import GivenText
from mcp_bridge.prompts.templates import Template


class PromptVersion(CuratedVersion):
    """One version of a prompt's text in both languages."""

    RIGHT = HubRight.PROMPTS
    THING = "template"
    AUDITED_AS = "mcp_prompt"

    template = models.CharField(_("prompt"), max_length=60, choices=[(one.value, one.value) for one in Template])
    text_ja = GivenText(_("text (ja)"), max_length=PROMPT_TEXT)
    text_en = GivenText(_("text (en)"), max_length=PROMPT_TEXT)
    note = models.CharField(_("reason for the change"), max_length=300, blank=True)
    is_shipped = models.BooleanField(_("as shipped"), default=False, editable=False)

    class Meta:
        verbose_name = _("prompt for assistants")
        verbose_name_plural = _("prompts for assistants")
        ordering = ["template", "-number"]
        constraints = [
            longest_text("text_ja", PROMPT_TEXT),
            longest_text("text_en", PROMPT_TEXT),
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
