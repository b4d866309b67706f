"""What people say of a review: decisions on findings and checks, answers, signatures. Nothing here is ever changed."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.core.bounds import LONG_TEXT, longest_text
from hub.core.given_fields import GivenText
from review.models.reviews import VERDICTS, CheckResult, Finding, Review

ANSWER_TEXT = 2 * LONG_TEXT + 1
"""The most characters of a line of a finding's history: an answer's plan and text, one under the other."""


class EventKind(models.TextChoices):
    TRIAGE = "triage", _("state")
    COMMENT = "comment", _("comment")
    ASSIGN = "assign", _("assignment")
    DUE = "due", _("due day")
    ANSWER = "answer", _("answer")
    REOPEN = "reopen", _("waiver expired")
    CARRY = "carry", _("carried over")
    PROMOTE = "promote", _("counts after all")


class Act(models.Model):
    """What a person did. The name stays when the account goes."""

    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    actor_name = models.CharField(max_length=150)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True
        ordering = ["id"]


class FindingEvent(Act):
    """One line of a finding's history. ``before`` and ``after`` are states, names, days or empty, by ``kind``.

    ``origin`` is the finding of an earlier review that the line came from, or, when a later review closed the finding,
    that review; empty for what was said here.
    """

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=10, choices=EventKind.choices)
    before = models.CharField(max_length=150, blank=True)
    after = models.CharField(max_length=150, blank=True)
    text = GivenText(blank=True, max_length=ANSWER_TEXT)
    origin = models.CharField(max_length=40, blank=True)
    expires_at = models.DateTimeField(null=True)

    class Meta(Act.Meta):
        constraints = [longest_text("text", ANSWER_TEXT)]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.before} → {self.after}"


class FindingAnswer(models.Model):
    """The author's answer to a finding, as the 指摘管理表 has it; the newest counts, the history keeps the others."""

    finding = models.OneToOneField(Finding, on_delete=models.CASCADE, related_name="answer")
    plan = GivenText(blank=True)
    text = GivenText(blank=True)
    answered_by = models.CharField(max_length=150, blank=True)
    answered_on = models.DateField(null=True)

    class Meta:
        constraints = [
            longest_text("plan", LONG_TEXT),
            longest_text("text", LONG_TEXT),
        ]

    def __str__(self) -> str:
        return self.text or self.plan


class ResultDecision(Act):
    """A person's verdict on a check, with the verdict that it took the place of.

    One that was taken back stays, with who took it back, by name and, but for the oldest ones, by account; it decides
    nothing any more.
    """

    result = models.ForeignKey(CheckResult, on_delete=models.CASCADE, related_name="decisions")
    before = models.CharField(max_length=20, choices=VERDICTS)
    before_method = models.CharField(max_length=10)
    verdict = models.CharField(max_length=20, choices=VERDICTS)
    reason = GivenText()
    taken_back_at = models.DateTimeField(null=True)
    taken_back_by = models.CharField(max_length=150, blank=True, db_default="")
    taken_back_actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta(Act.Meta):
        constraints = [longest_text("reason", LONG_TEXT)]

    def __str__(self) -> str:
        return f"{self.before} → {self.verdict}"


class Signature(models.Model):
    """One person's signature under a review's result."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="signatures")
    signer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    signer_name = models.CharField(max_length=150)
    comment = GivenText(blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        constraints = [
            longest_text("comment", LONG_TEXT),
            models.UniqueConstraint(fields=["review", "signer"], name="one_signature_per_signer"),
        ]

    def __str__(self) -> str:
        return self.signer_name
