"""Ontologies: what documents talk about, with the words by which people name it."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.access.versions import PublicationStatus, Version
from hub.core.bounds import CURATED_JSON, LONG_TEXT, largest_json, longest_text
from hub.core.given_fields import GivenJson, GivenList, GivenText, most_items
from hub.core.languages import in_language
from knowledge.models.guidelines import ArticleSeverity

LONGEST_REMAINDER = 64 * 1024**2
"""The most characters of statements that no row holds: as much as reading a file ever brings."""


class OntologyQuerySet(models.QuerySet["Ontology"]):
    def visible_to(self, principal: Principal) -> OntologyQuerySet:
        """Keep the versions that the caller may read: drafts are for curators of the hub."""
        if not principal.allows(Scope.READ):
            return self.none()
        return self if principal.may(HubRight.ONTOLOGIES) else self.exclude(status=PublicationStatus.DRAFT)


class Ontology(Version):
    """One version of a domain's ontology. At most one version of a domain is published."""

    THING, AUDITED_AS, ACTIONS = "domain", "ontology", "ONTOLOGY"
    RIGHT = HubRight.ONTOLOGIES

    domain = models.CharField(_("domain"), max_length=60)
    number = models.PositiveIntegerField(_("version"), default=1)
    name_ja = models.CharField(_("name (ja)"), max_length=200)
    name_en = models.CharField(_("name (en)"), max_length=200)
    document_types = GivenList(models.CharField(max_length=40), default=list, verbose_name=_("document types"))
    status = models.CharField(
        _("state"), max_length=10, choices=PublicationStatus.choices, default=PublicationStatus.DRAFT
    )
    based_on = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("based on")
    )
    shipped_version = models.CharField(_("shipped version"), max_length=20, blank=True, editable=False)
    # What RDF files said beyond the rows, see knowledge.ontology.rdf_mapping.
    remainder = GivenText(_("other statements"), blank=True, editable=False, max_length=LONGEST_REMAINDER)
    suppressed = GivenText(blank=True, editable=False, max_length=LONGEST_REMAINDER)
    prefixes = GivenJson(default=list, blank=True, editable=False, limits=CURATED_JSON)
    kept_only = models.JSONField(_("kept, not used"), default=list, blank=True, editable=False)
    shapes_report = models.JSONField(_("SHACL report"), null=True, blank=True, editable=False)
    created_by = models.CharField(_("created by"), max_length=150, blank=True, editable=False)
    published_at = models.DateTimeField(_("published"), null=True, blank=True, editable=False)
    published_by = models.CharField(_("published by"), max_length=150, blank=True, editable=False)
    retired_at = models.DateTimeField(_("retired"), null=True, blank=True, editable=False)
    retired_by = models.CharField(_("retired by"), max_length=150, blank=True, editable=False)

    objects = OntologyQuerySet.as_manager()

    class Meta:
        verbose_name = _("ontology")
        verbose_name_plural = _("ontologies")
        constraints = [
            most_items("document_types"),
            longest_text("remainder", LONGEST_REMAINDER),
            longest_text("suppressed", LONGEST_REMAINDER),
            largest_json("prefixes", CURATED_JSON),
            models.UniqueConstraint(fields=["domain", "number"], name="one_ontology_per_version"),
            models.UniqueConstraint(
                fields=["domain"], condition=models.Q(status="published"), name="one_published_ontology_per_domain"
            ),
        ]

    @property
    def audited(self) -> str:
        """The domain; the line holds the version's number beside it."""
        return f"ontology:{self.domain}"


class OntologyClassKind(models.TextChoices):
    OWL = "owl", _("OWL class")
    RDFS = "rdfs", _("RDFS class")
    CONCEPT = "concept", _("SKOS concept")


class OntologyClass(models.Model):
    """A concept: labels, synonyms (typical headings and words), and cues that tell treatment from mention.

    The fields that coverage checks use mean what :class:`knowledge.types.requirements.Topic` says of them.
    """

    ontology = models.ForeignKey(Ontology, on_delete=models.CASCADE, related_name="classes", verbose_name=_("ontology"))
    code = models.CharField(_("code"), max_length=80)
    iri = models.CharField(_("IRI"), max_length=500)
    kind = models.CharField(
        _("kind"), max_length=10, choices=OntologyClassKind.choices, default=OntologyClassKind.OWL, editable=False
    )
    label_ja = models.CharField(_("label (ja)"), max_length=200)
    label_en = models.CharField(_("label (en)"), max_length=200)
    definition_ja = GivenText(_("definition (ja)"), blank=True)
    definition_en = GivenText(_("definition (en)"), blank=True)
    synonyms = GivenList(models.CharField(max_length=200), default=list, blank=True, verbose_name=_("synonyms"))
    cues = GivenList(models.CharField(max_length=1000), default=list, blank=True, verbose_name=_("cues"))
    exclusions = GivenList(models.CharField(max_length=1000), default=list, blank=True, verbose_name=_("exclusions"))
    parents = models.ManyToManyField(
        "self", symmetrical=False, blank=True, related_name="children", verbose_name=_("parent classes")
    )
    position = models.PositiveIntegerField(_("position"), default=0)
    is_topic = models.BooleanField(
        _("documents are expected to treat it"), default=False, help_text=_("Coverage checks look for it.")
    )
    required = models.BooleanField(_("required"), default=False)
    severity = models.CharField(
        _("severity"), max_length=10, choices=ArticleSeverity.choices, default=ArticleSeverity.MAJOR
    )
    category = models.CharField(_("category"), max_length=100, blank=True)
    whole_document = models.BooleanField(_("about the whole document"), default=False)
    expected_location = models.CharField(_("expected location (ja)"), max_length=200, blank=True)
    expected_location_en = models.CharField(_("expected location (en)"), max_length=200, blank=True)
    elements_ja = GivenList(models.CharField(max_length=300), default=list, blank=True, verbose_name=_("elements (ja)"))
    elements_en = GivenList(models.CharField(max_length=300), default=list, blank=True, verbose_name=_("elements (en)"))
    example = GivenText(_("example (plain style)"), blank=True)
    example_polite = GivenText(_("example (polite style)"), blank=True)

    class Meta:
        verbose_name = _("ontology class")
        verbose_name_plural = _("ontology classes")
        ordering = ["ontology", "position", "code"]
        constraints = [
            longest_text("definition_ja", LONG_TEXT),
            longest_text("definition_en", LONG_TEXT),
            most_items("synonyms"),
            most_items("cues"),
            most_items("exclusions"),
            most_items("elements_ja"),
            most_items("elements_en"),
            longest_text("example", LONG_TEXT),
            longest_text("example_polite", LONG_TEXT),
            models.UniqueConstraint(fields=["ontology", "code"], name="one_class_per_code"),
            models.UniqueConstraint(fields=["ontology", "iri"], name="one_class_per_iri"),
        ]

    def __str__(self) -> str:
        return in_language(self.label_ja, self.label_en)


class OntologyPropertyKind(models.TextChoices):
    OBJECT = "object", _("between individuals")
    DATATYPE = "datatype", _("with a literal value")
    ANNOTATION = "annotation", _("annotation")
    RDF = "rdf", _("RDF property")


class OntologyProperty(models.Model):
    """A relation between the individuals of classes, or of individuals to values."""

    ontology = models.ForeignKey(
        Ontology, on_delete=models.CASCADE, related_name="properties", verbose_name=_("ontology")
    )
    code = models.CharField(_("code"), max_length=80)
    iri = models.CharField(_("IRI"), max_length=500)
    kind = models.CharField(
        _("kind"), max_length=10, choices=OntologyPropertyKind.choices, default=OntologyPropertyKind.OBJECT
    )
    label_ja = models.CharField(_("label (ja)"), max_length=200)
    label_en = models.CharField(_("label (en)"), max_length=200)
    domains = models.ManyToManyField(
        OntologyClass, blank=True, related_name="+", verbose_name=_("domain of the property")
    )
    ranges = models.ManyToManyField(OntologyClass, blank=True, related_name="+", verbose_name=_("range"))
    datatype = models.CharField(_("type of the value"), max_length=200, blank=True)
    parents = models.ManyToManyField(
        "self", symmetrical=False, blank=True, related_name="children", verbose_name=_("sub-property of")
    )
    inverse_of = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("inverse of")
    )
    is_transitive = models.BooleanField(_("transitive"), default=False)
    is_symmetric = models.BooleanField(_("symmetric"), default=False)
    is_functional = models.BooleanField(_("functional"), default=False)

    class Meta:
        verbose_name = _("ontology property")
        verbose_name_plural = _("ontology properties")
        ordering = ["ontology", "code"]
        constraints = [
            models.UniqueConstraint(fields=["ontology", "code"], name="one_property_per_code"),
            models.UniqueConstraint(fields=["ontology", "iri"], name="one_property_per_iri"),
        ]

    def __str__(self) -> str:
        return in_language(self.label_ja, self.label_en)
