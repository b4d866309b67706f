"""Check masters: check lists, check items and their versions."""

from __future__ import annotations

from datetime import date

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight
from hub.access.versions import CuratedVersion, Written
from hub.core.bounds import CURATED_JSON, LONG_TEXT, PROMPT_TEXT, largest_json, longest_text
from hub.core.given_fields import GivenJson, GivenList, GivenText, most_items
from hub.core.languages import in_language


class Priority(models.TextChoices):
    # a priority is no severity: "critical" has a word of its own for each
    CRITICAL = "critical", _("top priority")
    HIGH = "high", _("high")
    MEDIUM = "medium", _("medium")
    LOW = "low", _("low")


class CheckType(models.TextChoices):
    TERMINOLOGY = "terminology", _("terminology")
    STYLE = "style", _("style")
    COMPLIANCE = "compliance", _("compliance")
    TRACEABILITY = "traceability", _("traceability")
    COVERAGE = "coverage", _("coverage")
    COMPOSITE = "composite", _("composite")


class Strategy(models.TextChoices):
    VECTOR_RAG = "vector_rag", _("vector search")
    GRAPH_RAG = "graph_rag", _("graph search")
    ONTOLOGY = "ontology", _("ontology")
    HYBRID = "hybrid", _("several")


class MasterStatus(models.TextChoices):
    DRAFT = "draft", _("draft")
    APPROVED = "approved", _("approved")
    RETIRED = "retired", _("retired")


class CheckList(models.Model):
    """A check master: the check items for some kinds of documents."""

    code = models.SlugField(_("code"), max_length=60, unique=True)
    name_ja = models.CharField(_("name (ja)"), max_length=200)
    name_en = models.CharField(_("name (en)"), max_length=200)
    document_types = GivenList(models.CharField(max_length=40), default=list, verbose_name=_("document types"))
    ontology_domain = models.CharField(_("ontology"), max_length=60, blank=True)

    class Meta:
        verbose_name = _("check list")
        verbose_name_plural = _("check lists")
        ordering = ["code"]
        constraints = [most_items("document_types")]

    def __str__(self) -> str:
        return in_language(self.name_ja, self.name_en)


class MasterVersion(Written):
    """What the versions of check items and of check lists have in common: a draft, approved once, later retired.

    ``author`` changed the draft last; ``reason`` says why there is a new version. ``shipped_edition`` names the
    edition that came with the hub, see review.shipped; it is empty for what people made.

    It is no CuratedVersion: of those one is in force, while approved versions of a check list are beside each other,
    each for its days. They are approved with the items that they hold.
    """

    RIGHT = HubRight.MASTERS
    number = models.PositiveIntegerField(_("version"), default=1)
    status = models.CharField(_("state"), max_length=10, choices=MasterStatus.choices, default=MasterStatus.DRAFT)
    reason = GivenText(_("reason for the change"), blank=True)
    shipped_edition = models.CharField(max_length=16, blank=True, editable=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("author"),
    )
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("approved by"),
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    approved_at = models.DateTimeField(_("approved at"), null=True, blank=True, editable=False)
    retired_at = models.DateTimeField(_("retired"), null=True, blank=True, editable=False)

    class Meta:
        abstract = True


class CheckItem(models.Model):
    """One thing that is checked; its code (BD-B02) is unique in the deployment. Its content is versioned."""

    code = models.CharField(_("code"), max_length=20, unique=True)
    category = models.CharField(_("category"), max_length=100, blank=True)

    class Meta:
        verbose_name = _("check item")
        verbose_name_plural = _("check items")
        ordering = ["code"]

    def __str__(self) -> str:
        return self.code


class CheckItemVersion(MasterVersion):
    """What a check item says at one time. Once approved it is never changed: results point at it for ever.

    ``criteria``: {rules: [{rule_id, params}], prompt, expected_format, rubric, threshold, required_elements,
    patterns, terms}; an item without rules is for a language model only.
    """

    item = models.ForeignKey(CheckItem, on_delete=models.PROTECT, related_name="versions", verbose_name=_("item"))
    category = models.CharField(_("category"), max_length=100, blank=True)
    name_ja = models.CharField(_("name (ja)"), max_length=200)
    name_en = models.CharField(_("name (en)"), max_length=200)
    description_ja = GivenText(_("description (ja)"), blank=True)
    description_en = GivenText(_("description (en)"), blank=True)
    check_type = models.CharField(_("type"), max_length=20, choices=CheckType.choices)
    strategy = models.CharField(_("strategy"), max_length=20, choices=Strategy.choices)
    guideline_reference = models.CharField(_("guideline"), max_length=300, blank=True)
    priority = models.CharField(_("priority"), max_length=10, choices=Priority.choices, default=Priority.MEDIUM)
    criteria = GivenJson(_("criteria"), default=dict, limits=CURATED_JSON)

    class Meta:
        verbose_name = _("check item version")
        verbose_name_plural = _("check item versions")
        ordering = ["item__code", "-number"]
        constraints = [
            longest_text("reason", LONG_TEXT),
            longest_text("description_ja", LONG_TEXT),
            longest_text("description_en", LONG_TEXT),
            largest_json("criteria", CURATED_JSON),
            models.UniqueConstraint(fields=["item", "number"], name="one_check_item_version_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.item} v{self.number}"

    @property
    def name(self) -> str:
        return in_language(self.name_ja, self.name_en)


class CheckListVersionQuerySet(models.QuerySet["CheckListVersion"]):
    def in_force(self, today: date) -> CheckListVersionQuerySet:
        """Keep the version of each check list that reviews use on a day: the newest approved one whose days hold it."""
        approved = CheckListVersion.objects.filter(
            models.Q(effective_from__isnull=True) | models.Q(effective_from__lte=today),
            models.Q(effective_to__isnull=True) | models.Q(effective_to__gte=today),
            status=MasterStatus.APPROVED,
        )
        newest = approved.filter(checklist=models.OuterRef("checklist")).order_by("-number").values("pk")[:1]
        return self.filter(pk=models.Subquery(newest))


class CheckListVersion(MasterVersion):
    """The item versions that make up a check list at one time, in order.

    Of the approved versions the newest whose days include today is in force; no day means no limit.
    """

    checklist = models.ForeignKey(
        CheckList, on_delete=models.PROTECT, related_name="versions", verbose_name=_("check list")
    )
    effective_from = models.DateField(_("in force from"), null=True, blank=True)
    effective_to = models.DateField(_("in force until"), null=True, blank=True)

    objects = CheckListVersionQuerySet.as_manager()

    class Meta:
        verbose_name = _("check list version")
        verbose_name_plural = _("check list versions")
        ordering = ["checklist", "-number"]
        constraints = [
            longest_text("reason", LONG_TEXT),
            models.UniqueConstraint(fields=["checklist", "number"], name="one_check_list_version_per_number"),
            models.CheckConstraint(
                condition=models.Q(effective_from__isnull=True)
                | models.Q(effective_to__isnull=True)
                | models.Q(effective_from__lte=models.F("effective_to")),
                name="check_list_version_starts_before_it_ends",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.checklist.code} v{self.number}"


class CheckListEntry(models.Model):
    checklist_version = models.ForeignKey(CheckListVersion, on_delete=models.CASCADE, related_name="entries")
    item_version = models.ForeignKey(
        CheckItemVersion, on_delete=models.PROTECT, related_name="+", verbose_name=_("check item")
    )
    position = models.PositiveIntegerField(_("position"), default=0)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["checklist_version", "item_version"], name="one_entry_per_item_version")
        ]

    def __str__(self) -> str:
        return str(self.item_version)


class PromptKind(models.TextChoices):
    JUDGE = "judge", _("judging a check")
    SCREEN = "screen", _("choosing passages")
    SUMMARY = "summary", _("summarising sections")
    SECOND = "second", _("second opinion on findings")
    SWEEP = "sweep", _("reading the whole document")
    REFUTE = "refute", _("refuting proposed findings")


class JudgePrompt(CuratedVersion):
    """One version of what a model is given beside the fixed rules. Results point at its number."""

    RIGHT = HubRight.MASTERS
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
