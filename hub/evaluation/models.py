"""Datasets of cases, and what runs over them found. What a case means is up to its kind."""

from __future__ import annotations

from functools import partial

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.core.ids import new_id


class EvaluationDataset(models.Model):
    """A named collection of cases; the code is its name everywhere outside the database."""

    code = models.SlugField(_("code"), max_length=63, unique=True)
    name = models.CharField(_("name"), max_length=200)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("evaluation dataset")
        verbose_name_plural = _("evaluation datasets")
        ordering = ["code"]

    def __str__(self) -> str:
        return self.code


class EvaluationCase(models.Model):
    """One question with the answer that is right. ``digest`` names the input, so that importing twice adds nothing.

    A ``retrieval`` case has input {query, collection?} and expected {relevant: [{document, text?}]}.
    """

    dataset = models.ForeignKey(EvaluationDataset, on_delete=models.CASCADE, related_name="cases")
    kind = models.CharField(_("kind"), max_length=30)
    digest = models.CharField(max_length=64, editable=False)
    input = models.JSONField(_("input"))
    expected = models.JSONField(_("expected"))
    weight = models.FloatField(_("weight"), default=1.0)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("evaluation case")
        verbose_name_plural = _("evaluation cases")
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["dataset", "kind", "digest"], name="one_case_per_input")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class EvaluationRun(models.Model):
    """The result of one subject (an embedding set, a check list's version, …) on a dataset.

    ``metrics`` maps a measure to {value, low, high}; with a ``baseline`` it also holds ``delta`` (the same shape) and
    ``improved``. ``scores`` maps a case's id to its measures; ``flips`` lists the cases that changed sides.
    """

    public_id = models.CharField(max_length=40, unique=True, default=partial(new_id, "run"), editable=False)
    dataset = models.ForeignKey(EvaluationDataset, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(_("kind"), max_length=30)
    subject = models.CharField(_("subject"), max_length=200)
    parameters = models.JSONField(_("settings"), default=dict)
    metrics = models.JSONField(_("measures"), default=dict)
    scores = models.JSONField(default=dict)
    baseline = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    flips = models.JSONField(default=list)
    principal = models.CharField(_("who"), max_length=150)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("evaluation run")
        verbose_name_plural = _("evaluation runs")
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.public_id} {self.subject}"
