"""Guidelines: editions of article trees that documents of some types must comply with."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight
from hub.access.versions import PublicationStatus, Version
from hub.core.bounds import CHAPTER_TEXT, CURATED_JSON, LONG_TEXT, largest_json, longest_text
from hub.core.given_fields import GivenJson, GivenList, GivenText, most_items
from hub.core.languages import in_language

PREFIX_PATTERN = r"[A-Z][A-Z0-9]{0,9}-"


class ArticleSeverity(models.TextChoices):
    """How bad it is when a document leaves an article, or a topic, out."""

    CRITICAL = "critical", _("critical")
    MAJOR = "major", _("major")
    MINOR = "minor", _("minor")
    INFO = "info", _("info")


class Guideline(models.Model):
    """A guideline through all of its editions. ``prefix`` begins the codes of its articles (GL- in GL-3.2.1)."""

    code = models.SlugField(_("code"), max_length=60, unique=True)
    prefix = models.CharField(
        _("prefix of article codes"), max_length=11, unique=True, validators=[RegexValidator(rf"^{PREFIX_PATTERN}$")]
    )
    name_ja = models.CharField(_("name (ja)"), max_length=200)
    name_en = models.CharField(_("name (en)"), max_length=200)
    source = GivenText(_("source"), blank=True)
    publisher = models.CharField(_("publisher"), max_length=200, blank=True)
    licence = models.CharField(_("licence"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("guideline")
        verbose_name_plural = _("guidelines")
        ordering = ["code"]
        constraints = [
            longest_text("source", LONG_TEXT),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        return in_language(self.name_ja, self.name_en)


class GuidelineEdition(Version):
    """One edition. A published one never changes; at most one of a guideline is published."""

    THING, AUDITED_AS, ACTIONS = "guideline", "guideline", "GUIDELINE"
    RIGHT = HubRight.ONTOLOGIES

    guideline = models.ForeignKey(
        Guideline, on_delete=models.PROTECT, related_name="editions", verbose_name=_("guideline")
    )
    number = models.PositiveIntegerField(_("edition"), default=1)
    label = models.CharField(_("label"), max_length=100, blank=True)
    status = models.CharField(
        _("state"), max_length=10, choices=PublicationStatus.choices, default=PublicationStatus.DRAFT
    )
    effective_date = models.DateField(_("in force from"), null=True, blank=True)
    published_at = models.DateTimeField(_("published"), null=True, blank=True, editable=False)
    published_by = models.CharField(_("published by"), max_length=150, blank=True, editable=False)
    retired_at = models.DateTimeField(_("retired"), null=True, blank=True, editable=False)
    # {field of Guideline: text}: what publishing this edition changes in the guideline itself.
    guideline_changes = GivenJson(_("changes of the guideline"), default=dict, blank=True, editable=False)

    class Meta:
        verbose_name = _("guideline edition")
        verbose_name_plural = _("guideline editions")
        ordering = ["guideline__code", "-number"]
        constraints = [
            largest_json("guideline_changes"),
            models.UniqueConstraint(fields=["guideline", "number"], name="one_guideline_edition_per_number"),
            models.UniqueConstraint(
                fields=["guideline"],
                condition=models.Q(status="published"),
                name="one_published_edition_per_guideline",
            ),
        ]

    @property
    def thing(self) -> str:
        return self.guideline.code


class GuidelineArticle(models.Model):
    """An article (条項) of one edition.

    The fields that checks use mean what :class:`knowledge.types.requirements.Article` says.
    ``required_elements`` is a list of ``{name, words[], patterns[]}``. ``source`` and ``source_edition`` name the
    public text, and its date, that the article was read from.
    """

    edition = models.ForeignKey(GuidelineEdition, on_delete=models.CASCADE, related_name="articles")
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="children")
    position = models.PositiveIntegerField(_("position"), default=0)
    code = models.CharField(_("code"), max_length=60)
    number = models.CharField(_("number"), max_length=40)
    title = models.CharField(_("title"), max_length=300)
    text = GivenText(_("text"), blank=True, max_length=CHAPTER_TEXT)
    category = models.CharField(_("category"), max_length=100, blank=True)
    severity = models.CharField(
        _("severity"), max_length=10, choices=ArticleSeverity.choices, default=ArticleSeverity.MINOR
    )
    document_types = GivenList(
        models.CharField(max_length=40), default=list, blank=True, verbose_name=_("document types")
    )
    headings = GivenList(models.CharField(max_length=200), default=list, blank=True, verbose_name=_("typical headings"))
    applies_when = GivenList(
        models.CharField(max_length=300), default=list, blank=True, verbose_name=_("applies with headings")
    )
    required_elements = GivenJson(_("required elements"), default=list, blank=True, limits=CURATED_JSON)
    source = models.CharField(_("source"), max_length=300, blank=True)
    source_edition = models.CharField(_("edition of the source"), max_length=100, blank=True)

    class Meta:
        verbose_name = _("guideline article")
        verbose_name_plural = _("guideline articles")
        ordering = ["edition", "position"]
        constraints = [
            longest_text("text", CHAPTER_TEXT),
            most_items("document_types"),
            most_items("headings"),
            most_items("applies_when"),
            largest_json("required_elements", CURATED_JSON),
            models.UniqueConstraint(fields=["edition", "code"], name="one_article_per_code_in_edition"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.title}"
