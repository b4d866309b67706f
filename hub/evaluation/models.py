"""Datasets of cases, and what runs over them found. What a case means is up to its kind."""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.bounds import CURATED_JSON, Bounds, largest_json
from hub.core.given_fields import GivenJson, GivenList, most_items
from hub.core.ids import new_id
from hub.evaluation.cases import HEAVIEST

READING_SCOPES = (Scope.CURATE, Scope.AUDIT)
WEIGHT = Bounds(least=0, most=HEAVIEST)


class EvaluationDatasetQuerySet(models.QuerySet["EvaluationDataset"]):
    def visible_to(self, principal: Principal) -> EvaluationDatasetQuerySet:
        """Keep the datasets that name the caller among their readers; superusers see all.

        Cases quote documents, so a role in some collection is not enough.
        """
        if not any(principal.allows(scope) for scope in READING_SCOPES):
            return self.none()
        if principal.is_superuser:
            return self
        return self.filter(readers=principal.user_id) if principal.user_id is not None else self.none()

    def rights_of(self, principal: Principal) -> list[str]:
        """The datasets that name the caller among their readers, as facts for ``hub.access.rights``. One query."""
        return [f"dataset {key}" for key in self.filter(readers=principal.user_id).values_list("pk", flat=True)]


class EvaluationDataset(models.Model):
    """A named collection of cases; the code is its name everywhere outside the database.

    ``guards`` names what may not go live with more wrong answers here: ``checklist:basic-design``,
    ``embedding_set``, ``prompt``.
    """

    code = models.SlugField(_("code"), max_length=63, unique=True)
    name = models.CharField(_("name"), max_length=200)
    is_nightly = models.BooleanField(_("run every night"), default=False)
    guards = GivenList(models.CharField(max_length=80), default=list, blank=True, verbose_name=_("guards"))
    readers = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+", verbose_name=_("readers"))
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    objects = EvaluationDatasetQuerySet.as_manager()

    class Meta:
        verbose_name = _("evaluation dataset")
        verbose_name_plural = _("evaluation datasets")
        ordering = ["code"]
        constraints = [most_items("guards")]

    def __str__(self) -> str:
        return self.code


class EvaluationCase(models.Model):
    """One question with the answer that is right. ``digest`` names the input, so that importing twice adds nothing.

    A ``retrieval`` case has input {query, collection?, filter?, mode?, threshold?, per_document?} and expected
    {relevant: [{document, text?}]}; a ``review`` case the input that :mod:`hub.evaluation.cases` reads and
    expected {verdict}.
    """

    dataset = models.ForeignKey(EvaluationDataset, on_delete=models.CASCADE, related_name="cases")
    kind = models.CharField(_("kind"), max_length=30)
    digest = models.CharField(max_length=64, editable=False)
    input = GivenJson(_("input"), limits=CURATED_JSON)
    expected = GivenJson(_("expected"), limits=CURATED_JSON)
    weight = models.FloatField(_("weight"), default=1.0, validators=WEIGHT.validators())
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("evaluation case")
        verbose_name_plural = _("evaluation cases")
        ordering = ["pk"]
        constraints = [
            largest_json("input", CURATED_JSON),
            largest_json("expected", CURATED_JSON),
            models.UniqueConstraint(fields=["dataset", "kind", "digest"], name="one_case_per_input"),
            WEIGHT.check("weight"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class RunStatus(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    COMPLETED = "completed", _("completed")
    FAILED = "failed", _("failed")


UNFINISHED_RUNS = (RunStatus.QUEUED, RunStatus.RUNNING)


class EvaluationRun(models.Model):
    """The result of one subject (an embedding set, a check list's version, …) on a dataset.

    ``metrics`` maps a measure to {value, low, high}; with a ``baseline`` it also holds ``delta`` (the same shape) and
    ``improved``. ``scores`` maps a case's id to its measures; ``flips`` lists the cases that changed sides.
    ``parameters`` pins what is measured, ``details`` holds counts and groups. ``is_baseline``: later runs of the
    dataset are held against this one. ``pins_digest`` names what was measured on which cases, so that the same need not
    be measured twice.
    """

    public_id = models.CharField(max_length=40, unique=True, default=partial(new_id, "run"), editable=False)
    dataset = models.ForeignKey(EvaluationDataset, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(_("kind"), max_length=30)
    subject = models.CharField(_("subject"), max_length=200)
    parameters = models.JSONField(_("settings"), default=dict)
    metrics = models.JSONField(_("measures"), default=dict)
    scores = models.JSONField(default=dict)
    details = models.JSONField(default=dict)
    is_baseline = models.BooleanField(_("baseline"), default=False)
    status = models.CharField(_("state"), max_length=10, choices=RunStatus.choices, default=RunStatus.COMPLETED)
    progress = models.PositiveSmallIntegerField(_("progress"), default=100)
    error = models.TextField(_("reason"), blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.CharField(max_length=40, blank=True)
    lease_expires_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(_("finished"), null=True)
    baseline = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    flips = models.JSONField(default=list)
    pins_digest = models.CharField(max_length=64, blank=True, default="", db_index=True, editable=False)
    principal = models.CharField(_("who"), max_length=150)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", editable=False
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("evaluation run")
        verbose_name_plural = _("evaluation runs")
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["created_at"], condition=models.Q(status__in=UNFINISHED_RUNS), name="evaluation_unfinished"
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "kind"], condition=models.Q(is_baseline=True), name="one_baseline_per_dataset"
            )
        ]

    def __str__(self) -> str:
        return f"{self.public_id} {self.subject}"
