"""Ontologies: what documents talk about, with the words by which people name it."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.core.languages import in_language


class OntologyStatus(models.TextChoices):
    DRAFT = "draft", _("draft")
    PUBLISHED = "published", _("published")
    RETIRED = "retired", _("retired")


class Ontology(models.Model):
    """One version of a domain's ontology. At most one version of a domain is published."""

    domain = models.CharField(_("domain"), max_length=60)
    number = models.PositiveIntegerField(_("version"), default=1)
    name_ja = models.CharField(_("name (ja)"), max_length=200)
    name_en = models.CharField(_("name (en)"), max_length=200)
    document_types = ArrayField(models.CharField(max_length=40), default=list, verbose_name=_("document types"))
    status = models.CharField(_("state"), max_length=10, choices=OntologyStatus.choices, default=OntologyStatus.DRAFT)
    published_at = models.DateTimeField(_("published"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("ontology")
        verbose_name_plural = _("ontologies")
        constraints = [
            models.UniqueConstraint(fields=["domain", "number"], name="one_ontology_per_version"),
            models.UniqueConstraint(
                fields=["domain"], condition=models.Q(status="published"), name="one_published_ontology_per_domain"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.domain} v{self.number}"


class OntologyClass(models.Model):
    """A concept: labels, synonyms (typical headings and words), and cues that tell treatment from mention.

    The fields that coverage checks use mean what :class:`knowledge.types.Topic` says of them.
    """

    ontology = models.ForeignKey(Ontology, on_delete=models.CASCADE, related_name="classes")
    code = models.CharField(_("code"), max_length=80)
    label_ja = models.CharField(_("label (ja)"), max_length=200)
    label_en = models.CharField(_("label (en)"), max_length=200)
    synonyms = ArrayField(models.CharField(max_length=200), default=list, blank=True, verbose_name=_("synonyms"))
    cues = ArrayField(models.CharField(max_length=1000), default=list, blank=True, verbose_name=_("cues"))
    exclusions = ArrayField(models.CharField(max_length=1000), default=list, blank=True, verbose_name=_("exclusions"))
    parents = models.ManyToManyField("self", symmetrical=False, blank=True, related_name="children")
    position = models.PositiveIntegerField(_("position"), default=0)
    required = models.BooleanField(_("required"), default=False)
    severity = models.CharField(_("severity"), max_length=10, default="major")
    category = models.CharField(_("category"), max_length=100, blank=True)
    whole_document = models.BooleanField(_("about the whole document"), default=False)
    expected_location = models.CharField(_("expected location (ja)"), max_length=200, blank=True)
    expected_location_en = models.CharField(_("expected location (en)"), max_length=200, blank=True)
    elements_ja = ArrayField(
        models.CharField(max_length=300), default=list, blank=True, verbose_name=_("elements (ja)")
    )
    elements_en = ArrayField(
        models.CharField(max_length=300), default=list, blank=True, verbose_name=_("elements (en)")
    )
    example = models.TextField(_("example (plain style)"), blank=True)
    example_polite = models.TextField(_("example (polite style)"), blank=True)

    class Meta:
        verbose_name = _("ontology class")
        verbose_name_plural = _("ontology classes")
        ordering = ["ontology", "position", "code"]
        constraints = [models.UniqueConstraint(fields=["ontology", "code"], name="one_class_per_code")]

    def __str__(self) -> str:
        return in_language(self.label_ja, self.label_en)
