"""Curated texts of what language models are told."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.core.publication import PublicationStatus


class PromptKind(models.TextChoices):
    JUDGE = "judge", _("judging a check")
    SCREEN = "screen", _("choosing passages")
    SUMMARY = "summary", _("summarising sections")


class JudgePrompt(models.Model):
    """One version of what a model is told beside the fixed rules. One of a kind is published.

    Once published its text is never changed: results point at its number.
    """

    kind = models.CharField(_("purpose"), max_length=10, choices=PromptKind.choices)
    number = models.PositiveIntegerField(_("version"))
    status = models.CharField(
        _("state"), max_length=10, choices=PublicationStatus.choices, default=PublicationStatus.DRAFT
    )
    text = models.TextField(_("text"), blank=True)
    note = models.CharField(_("reason for the change"), max_length=300, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("by"),
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    published_at = models.DateTimeField(_("published"), null=True, editable=False)

    class Meta:
        verbose_name = _("prompt")
        verbose_name_plural = _("prompts")
        ordering = ["kind", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "number"], name="one_prompt_per_number"),
            models.UniqueConstraint(fields=["kind"], condition=Q(status="published"), name="one_published_prompt"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} v{self.number}"
