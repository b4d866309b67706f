"""Ontologies and their classes: labels and synonyms are for curators, published ones for superusers."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.admin_site.badges import badge
from hub.admin_site.base import HubModelAdmin, ReadOnlyMixin
from hub.admin_site.callers import principal_of
from knowledge.admin.lines import LinesField
from knowledge.models import Collection, Ontology, OntologyClass, OntologyStatus

SYNONYMS_SHOWN = 6


@admin.register(Ontology)
class OntologyAdmin(ReadOnlyMixin, HubModelAdmin):
    """Versions are made and published by import, not by hand."""

    list_display = ("domain", "number", "name_ja", "name_en", "state", "classes_count", "published_at")
    list_filter = ("status", "domain")
    search_fields = ("domain", "name_ja", "name_en")
    fields = ("domain", "number", "name_ja", "name_en", "document_types", "status", "published_at", "created_at")

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Ontology]:
        """Add how many classes each has."""
        return Ontology.objects.annotate(classes_number=Count("classes")).order_by("domain", "-number")

    @admin.display(description=_("state"))
    def state(self, ontology: Ontology) -> SafeString:
        """Show the state as a badge."""
        return badge(ontology.status, ontology.get_status_display())

    @admin.display(description=_("classes"))
    def classes_count(self, ontology: Ontology) -> int:
        """Show how many classes it has."""
        return int(ontology.__dict__["classes_number"])


class OntologyClassForm(forms.ModelForm[OntologyClass]):
    """Lists are edited one entry per line."""

    synonyms = LinesField(label=_("synonyms"))
    cues = LinesField(label=_("cues"), are_patterns=True)
    exclusions = LinesField(label=_("exclusions"), are_patterns=True)
    elements_ja = LinesField(label=_("elements (ja)"))
    elements_en = LinesField(label=_("elements (en)"))

    class Meta:
        model = OntologyClass
        fields = (
            "label_ja",
            "label_en",
            "synonyms",
            "category",
            "required",
            "whole_document",
            "severity",
            "position",
            "expected_location",
            "expected_location_en",
            "cues",
            "exclusions",
            "elements_ja",
            "elements_en",
            "example",
            "example_polite",
        )


@admin.register(OntologyClass)
class OntologyClassAdmin(HubModelAdmin):
    form = OntologyClassForm
    list_display = ("code", "label_ja", "label_en", "ontology", "category", "required", "severity", "synonyms_text")
    list_filter = ("ontology__domain", "required", "severity")
    list_select_related = ("ontology",)
    search_fields = ("code", "label_ja", "label_en")
    readonly_fields = ("ontology", "code")
    fieldsets = (
        (None, {"fields": ("ontology", "code", ("label_ja", "label_en"), "synonyms", "category")}),
        (
            _("Coverage"),
            {
                "fields": (
                    ("required", "whole_document"),
                    ("severity", "position"),
                    ("expected_location", "expected_location_en"),
                    ("cues", "exclusions"),
                    ("elements_ja", "elements_en"),
                    ("example", "example_polite"),
                )
            },
        ),
    )

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True

    def may_add(self, principal: Principal) -> bool:
        return False  # classes come with an ontology's version

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        if principal.is_superuser:
            return True
        is_published = isinstance(obj, OntologyClass) and obj.ontology.status == OntologyStatus.PUBLISHED
        return not is_published and Collection.objects.visible_to(principal, Scope.CURATE).exists()

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: OntologyClass, form: forms.ModelForm[OntologyClass], change: bool
    ) -> None:
        """Save, and write down which fields changed."""
        super().save_model(request, obj, form, change)
        record_event(
            principal=principal_of(request),
            action="CONFIG_CHANGE",
            resource=f"ontology:{obj.ontology.domain}",
            ontology_class=obj.code,
            changed=sorted(form.changed_data),
        )

    @admin.display(description=_("synonyms"))
    def synonyms_text(self, row: OntologyClass) -> str:
        """Show the first synonyms."""
        more = " …" if len(row.synonyms) > SYNONYMS_SHOWN else ""
        return ", ".join(row.synonyms[:SYNONYMS_SHOWN]) + more
