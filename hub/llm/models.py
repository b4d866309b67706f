"""What the hub keeps of its talks with language models."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.core.bounds import LONG_TEXT, longest_text
from hub.core.given_fields import GivenText

CALLERS_MODEL = "sampling"
"""The provider's name where a caller's own model answered: nobody but that caller vouches for what it says."""


class RecordedAnswer(models.Model):
    """A checked answer by the hash of what was asked; with it a run is repeated without any model.

    The text is as the model gave it, names of masked values included. It goes with the documents it rests on. Answers
    of callers' own models are never stored.
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
        constraints = [
            models.CheckConstraint(condition=~Q(provider=CALLERS_MODEL), name="no_recorded_answer_of_callers_models")
        ]

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


class ProviderConfirmation(models.Model):
    """Somebody's confirmation that a provider does not train on what it is sent; for one endpoint, until withdrawn.

    Never changed and never deleted: the audit trail points at it. The name stays when the account is gone.
    """

    provider = models.CharField(_("provider"), max_length=20)
    endpoint = models.CharField(_("endpoint"), max_length=300)
    evidence = GivenText(
        _("evidence"), help_text=_("Where it is written: contract, terms with their date, or setting of the account.")
    )
    retention = models.CharField(
        _("what the provider keeps"), max_length=300, help_text=_("What it keeps of requests, and for how long.")
    )
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )
    confirmed_by_name = models.CharField(_("confirmed by"), max_length=150, editable=False)
    confirmed_at = models.DateTimeField(_("confirmed at"), default=timezone.now, editable=False)
    withdrawn_by_name = models.CharField(_("withdrawn by"), max_length=150, blank=True, editable=False)
    withdrawn_at = models.DateTimeField(_("withdrawn at"), null=True, editable=False)

    class Meta:
        verbose_name = _("no-training confirmation")
        verbose_name_plural = _("no-training confirmations")
        ordering = ["-confirmed_at"]
        constraints = [
            longest_text("evidence", LONG_TEXT),
            models.UniqueConstraint(
                fields=["provider", "endpoint"],
                condition=Q(withdrawn_at__isnull=True),
                name="one_confirmation_in_force",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.endpoint}"
