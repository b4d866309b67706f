"""What people asked at the home page, for themselves, and for those who keep the documents where nothing answered."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.core.bounds import longest_text
from hub.core.given_fields import GivenText

LONGEST_QUESTION = 1_000
LONGEST_REASON = 500
LONGEST_MESSAGE = 2_000


class Rating(models.IntegerChoices):
    """What a person said of an answer."""

    GOOD = 1, _("helpful")
    BAD = -1, _("not helpful")


class AskedQuestion(models.Model):
    """A person's question; asked again, it is the same row. ``folded`` is the same for the same words of others.

    ``collection_ids`` are the collections that it was asked of, ``is_answered`` and ``rating`` are of the last time.
    ``closed_at`` is when a curator had done what there was to do.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="questions")
    text = GivenText(_("question"), max_length=LONGEST_QUESTION)
    folded = models.CharField(max_length=64, editable=False)
    collection_ids = ArrayField(models.IntegerField(), default=list, editable=False)
    times = models.PositiveIntegerField(default=1, editable=False)
    is_answered = models.BooleanField(editable=False)
    rating = models.SmallIntegerField(_("rating"), choices=Rating.choices, null=True, blank=True)
    reason = GivenText(_("reason"), max_length=LONGEST_REASON, blank=True)
    is_saved = models.BooleanField(default=False)
    asked_at = models.DateTimeField(default=timezone.now, db_index=True, editable=False)
    closed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = _("question")
        verbose_name_plural = _("questions")
        ordering = ["-asked_at"]
        constraints = [
            models.UniqueConstraint(fields=["user", "folded"], name="one_row_per_question"),
            longest_text("text", LONGEST_QUESTION),
            longest_text("reason", LONGEST_REASON),
        ]

    def __str__(self) -> str:
        return self.text


class OwnerRequest(models.Model):
    """A question that a person sent, with their name, to those who keep a collection, and what these replied."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="owner_requests")
    collection = models.ForeignKey("knowledge.Collection", on_delete=models.CASCADE, related_name="owner_requests")
    question = GivenText(_("question"), max_length=LONGEST_QUESTION)
    folded = models.CharField(max_length=64, editable=False)
    message = GivenText(_("message"), max_length=LONGEST_MESSAGE, blank=True)
    asked_at = models.DateTimeField(default=timezone.now, db_index=True, editable=False)
    reply = GivenText(_("reply"), max_length=LONGEST_MESSAGE, blank=True)
    replied_at = models.DateTimeField(null=True, editable=False)
    replied_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )

    class Meta:
        verbose_name = _("question to those who keep a collection")
        verbose_name_plural = _("questions to those who keep a collection")
        ordering = ["-asked_at"]
        constraints = [
            models.UniqueConstraint(fields=["user", "collection", "folded"], name="one_request_per_question"),
            longest_text("question", LONGEST_QUESTION),
            longest_text("message", LONGEST_MESSAGE),
            longest_text("reply", LONGEST_MESSAGE),
        ]

    def __str__(self) -> str:
        return self.question


class NoQuestionsKept(models.Model):
    """A person who wants nothing to be kept of what they ask."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="no_questions_kept")
