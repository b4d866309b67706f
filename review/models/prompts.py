"""Curated texts of what language models are told."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from hub.core.bounds import PROMPT_TEXT, longest_text
from hub.core.given_fields import GivenText
from hub.core.publication import CuratedVersion


class PromptKind(models.TextChoices):
    JUDGE = "judge", _("judging a check")
    SCREEN = "screen", _("choosing passages")
    SUMMARY = "summary", _("summarising sections")


class JudgePrompt(CuratedVersion):
    """One version of what a model is told beside the fixed rules. Results point at its number."""

    THING = "kind"
    AUDITED_AS = "prompt"

    kind = models.CharField(_("purpose"), max_length=10, choices=PromptKind.choices)
    text = GivenText(_("text"), blank=True, max_length=PROMPT_TEXT)
    note = models.CharField(_("reason for the change"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("prompt")
        verbose_name_plural = _("prompts")
        ordering = ["kind", "-number"]
        constraints = [
            longest_text("text", PROMPT_TEXT),
            models.UniqueConstraint(fields=["kind", "number"], name="one_prompt_per_number"),
            models.UniqueConstraint(fields=["kind"], condition=Q(status="published"), name="one_published_prompt"),
        ]
