"""Classes and properties of ontologies: edited in drafts, looked at in all other versions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.versions import PublicationStatus
from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import principal_of
from knowledge.admin.curated import CuratedAdmin
from knowledge.admin.fields import LinesField
from knowledge.models import Ontology, OntologyClass, OntologyProperty
from knowledge.ontology import editing

SYNONYMS_SHOWN = 6
Entry = OntologyClass | OntologyProperty


class EntryAdmin(CuratedAdmin):
    """What classes and properties have in common: only curators change them, and only in drafts."""

    right = HubRight.ONTOLOGIES
    list_select_related = ("ontology",)
    search_fields = ("code", "label_ja", "label_en", "iri")
    fixed_fields = ("ontology", "code", "iri")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.filter(ontology__in=Ontology.objects.visible_to(principal_of(request)))

    def may_change(self, principal: Principal, obj: Model | None = None) -> bool:
        is_fixed = isinstance(obj, Entry) and not obj.ontology.is_draft
        return not is_fixed and super().may_change(principal, obj)

    may_delete = may_change

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        if db_field.name == "ontology":
            kwargs["queryset"] = Ontology.objects.filter(status=PublicationStatus.DRAFT)
        else:
            kwargs["queryset"] = self._of_same_version(db_field.related_model, request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        kwargs["queryset"] = self._of_same_version(db_field.related_model, request)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def _of_same_version(self, model: type[Model], request: HttpRequest) -> QuerySet[Model]:
        match = request.resolver_match
        wanted = whole_number(request.POST.get("ontology") or request.GET.get("ontology")) or 0
        object_id = whole_number(match.kwargs.get("object_id")) if match else None
        if object_id is not None:
            row = self.model._default_manager.filter(pk=object_id).values_list("ontology_id", flat=True).first()
            wanted = row or 0
        return model._default_manager.filter(ontology_id=wanted)

    def save_model(self, request: HttpRequest, obj: Entry, form: forms.ModelForm[Entry], change: bool) -> None:
        """Let the service save, and write down which fields changed."""
        editing.save_entry(principal=principal_of(request), row=obj, changed=form.changed_data)

    def response_post_save_add(self, request: HttpRequest, obj: Entry) -> HttpResponseRedirect:
        """Lead back to the draft, where the next step is: more entries, or to publish it."""
        return HttpResponseRedirect(reverse("admin:knowledge_ontology_change", args=[obj.ontology_id]))

    response_post_save_change = response_post_save_add

    def delete_model(self, request: HttpRequest, obj: Entry) -> None:
        editing.delete_entry(principal=principal_of(request), row=obj)


class OntologyClassForm(forms.ModelForm[OntologyClass]):
    """Lists are edited one entry per line."""

    synonyms = LinesField(label=_("synonyms"))
    cues = LinesField(label=_("cues"), are_patterns=True)
    exclusions = LinesField(label=_("exclusions"), are_patterns=True)
    elements_ja = LinesField(label=_("elements (ja)"))
    elements_en = LinesField(label=_("elements (en)"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        if "iri" in self.fields:
            self.fields["iri"].required = False
            self.fields["iri"].help_text = _("Empty: made of the domain and the code.")


@admin.register(OntologyClass)
class OntologyClassAdmin(EntryAdmin):
    form = OntologyClassForm
    change_form_outer_after_template = "admin/knowledge/ontology/class_trial.html"
    list_display = ("code", "label_ja", "label_en", "ontology", "is_topic", "required", "severity", "synonyms_text")
    list_filter = ("ontology__domain", "ontology__status", "is_topic", "required", "severity")
    fieldsets = (
        (None, {"fields": ("ontology", "code", "iri", ("label_ja", "label_en"), "synonyms", "parents")}),
        (_("Definition"), {"fields": (("definition_ja", "definition_en"),)}),
        (
            _("Coverage"),
            {
                "fields": (
                    ("is_topic", "required", "whole_document"),
                    ("severity", "position", "category"),
                    ("expected_location", "expected_location_en"),
                    ("cues", "exclusions"),
                    ("elements_ja", "elements_en"),
                    ("example", "example_polite"),
                )
            },
        ),
    )

    def save_related(
        self,
        request: HttpRequest,
        form: forms.ModelForm[OntologyClass],
        formsets: Any,  # noqa: ANN401
        change: bool,
    ) -> None:
        """Let the service put the class below its parents: it refuses circles."""
        editing.set_parents(
            principal=principal_of(request), row=form.instance, parents=list(form.cleaned_data.get("parents", ()))
        )

    @admin.display(description=_("synonyms"))
    def synonyms_text(self, row: OntologyClass) -> str:
        more = " …" if len(row.synonyms) > SYNONYMS_SHOWN else ""
        return ", ".join(row.synonyms[:SYNONYMS_SHOWN]) + more


@admin.register(OntologyProperty)
class OntologyPropertyAdmin(EntryAdmin):
    list_display = (
        "code",
        "label_ja",
        "label_en",
        "ontology",
        "kind",
        "is_transitive",
        "is_symmetric",
        "is_functional",
    )
    list_filter = ("ontology__domain", "ontology__status", "kind")
    fields = (
        "ontology",
        "code",
        "iri",
        "kind",
        ("label_ja", "label_en"),
        "domains",
        "ranges",
        "datatype",
        "parents",
        "inverse_of",
        ("is_transitive", "is_symmetric", "is_functional"),
    )
