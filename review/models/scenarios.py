"""Scenarios (利用シナリオ): how a role gets a piece of work done with the hub, step by step, and how far people are."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight
from hub.access.versions import CuratedVersion
from hub.core.bounds import LONG_TEXT, longest_text
from hub.core.given_fields import GivenList, GivenText, most_items
from hub.core.languages import in_language
from knowledge.models import Document


class ScenarioRole(models.TextChoices):
    PJMO = "pjmo", _("project office (PJMO)")
    QUALITY_SUPPORT = "quality_support", _("quality support")
    ADMIN = "admin", _("administrator")


class StepPage(models.TextChoices):
    """The page of the admin on which a step is done; some are about the document that the person walks through with."""

    NONE = "", _("no page")
    OVERVIEW = "overview", _("Overview")
    SEARCH = "search", _("Search")
    UPLOAD = "upload", _("Upload documents")
    DOCUMENT = "document", _("The document")
    START_REVIEW = "start_review", _("Start a review")
    REVIEW = "review", _("The document's latest review")
    TRIAGE = "triage", _("Triage of the latest review")
    CHANGES = "changes", _("Changes since the review before")
    ANSWERS = "answers", _("Read answers in")
    CHECKLISTS = "checklists", _("Check lists")
    CHECK_ITEMS = "check_items", _("Check items")
    GUIDELINES = "guidelines", _("Guidelines")
    ONTOLOGIES = "ontologies", _("Ontologies")
    PROMPTS = "prompts", _("Prompts")
    EVALUATION = "evaluation", _("Evaluation")
    AUDIT = "audit", _("Audit events")


class StepProof(models.TextChoices):
    """What shows that a step is done, of the document that the person walks through with, or since they began."""

    NONE = "", _("ticked off by hand")
    TEXT_READY = "text_ready", _("the document's text has been taken in")
    TEXT_READ = "text_read", _("the person has opened the document")
    REVIEWED = "reviewed", _("a review of the document is finished")
    RESULTS_READ = "results_read", _("the person has opened the results of a review")
    FINDINGS_DECIDED = "findings_decided", _("no finding of a review is open")
    CHECKS_DECIDED = "checks_decided", _("every check of a review is decided")
    NEW_VERSION = "new_version", _("a version after one that was reviewed has been taken in")
    REVIEWED_AGAIN = "reviewed_again", _("two versions of the document are reviewed")
    CHANGES_READ = "changes_read", _("the person has compared two reviews or versions")
    REPORT_TAKEN = "report_taken", _("the person has downloaded a report")
    ANSWERS_READ_IN = "answers_read_in", _("answers to findings have been read in")
    CASES_KEPT = "cases_kept", _("the person has kept a decision as a case")
    SIGNED_OFF = "signed_off", _("the newest review is signed off")
    SIGNED_REPORT_TAKEN = "signed_report_taken", _("the person has downloaded a report after the sign-off")
    MEASURED = "measured", _("since the start, the person has run an evaluation")
    DRAFTED = "drafted", _("since the start, the person has saved a draft of a check master")
    PUBLISHED = "published", _("since the start, a check list that the person wrote or approved is published")
    MEASURED_AFTER = "measured_after", _("after the publication, the person has run an evaluation")
    REVIEWED_AFTER = "reviewed_after", _("after the publication, the person has started a review")
    TRAIL_READ_AFTER = "trail_read_after", _("after the publication, the person has opened the audit trail")


class Scenario(CuratedVersion):
    """One version of a scenario, with its steps."""

    RIGHT = HubRight.MASTERS
    THING = "code"
    AUDITED_AS = "scenario"

    code = models.SlugField(_("code"), max_length=60)
    role = models.CharField(_("role"), max_length=20, choices=ScenarioRole.choices)
    name_ja = models.CharField(_("name (ja)"), max_length=200)
    name_en = models.CharField(_("name (en)"), max_length=200, blank=True)
    description_ja = GivenText(_("description (ja)"), blank=True)
    description_en = GivenText(_("description (en)"), blank=True)
    document_types = GivenList(
        models.CharField(max_length=40), default=list, blank=True, verbose_name=_("document types")
    )
    reason = models.CharField(_("reason for the change"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("scenario")
        verbose_name_plural = _("scenarios")
        ordering = ["code", "-number"]
        constraints = [
            longest_text("description_ja", LONG_TEXT),
            longest_text("description_en", LONG_TEXT),
            most_items("document_types"),
            models.UniqueConstraint(fields=["code", "number"], name="one_scenario_per_number"),
            models.UniqueConstraint(fields=["code"], condition=Q(status="published"), name="one_published_scenario"),
            models.UniqueConstraint(fields=["code"], condition=Q(status="draft"), name="one_scenario_draft"),
        ]

    @property
    def name(self) -> str:
        return in_language(self.name_ja, self.name_en or self.name_ja)

    @property
    def description(self) -> str:
        return in_language(self.description_ja, self.description_en or self.description_ja)


class ScenarioStep(models.Model):
    """One step: what to do, and the result. ``action`` names it in all versions of its scenario."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="steps")
    position = models.PositiveIntegerField(_("order"), default=0)
    action = models.SlugField(_("action"), max_length=60)
    page = models.CharField(_("page"), max_length=20, choices=StepPage.choices, default=StepPage.NONE, blank=True)
    proof = models.CharField(
        _("done when"), max_length=20, choices=StepProof.choices, default=StepProof.NONE, blank=True, db_default=""
    )
    title_ja = models.CharField(_("title (ja)"), max_length=200)
    title_en = models.CharField(_("title (en)"), max_length=200, blank=True)
    description_ja = GivenText(_("description (ja)"), blank=True)
    description_en = GivenText(_("description (en)"), blank=True)
    expected_ja = GivenText(_("expected output (ja)"), blank=True)
    expected_en = GivenText(_("expected output (en)"), blank=True)

    class Meta:
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        ordering = ["position", "pk"]
        constraints = [
            longest_text("description_ja", LONG_TEXT),
            longest_text("description_en", LONG_TEXT),
            longest_text("expected_ja", LONG_TEXT),
            longest_text("expected_en", LONG_TEXT),
            models.UniqueConstraint(fields=["scenario", "action"], name="one_step_per_action"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        return in_language(self.title_ja, self.title_en or self.title_ja)

    @property
    def description(self) -> str:
        return in_language(self.description_ja, self.description_en or self.description_ja)

    @property
    def expected(self) -> str:
        return in_language(self.expected_ja, self.expected_en or self.expected_ja)


class ScenarioProgress(models.Model):
    """How far a person is in a scenario, whichever version is in force: the actions ticked off, in that order.

    What the hub sees done by itself is not stored, see ``review.scenarios.observed``.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    code = models.SlugField(max_length=60)
    done = ArrayField(models.CharField(max_length=60), default=list)
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True, related_name="+")
    started_at = models.DateTimeField(default=timezone.now, db_default=Now())
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "code"], name="one_progress_per_person")]

    def __str__(self) -> str:
        return f"{self.code}: {len(self.done)}"
