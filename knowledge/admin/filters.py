"""List filters that offer only what the person may see."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from hub.admin_site.callers import principal_of
from knowledge.models import Collection, DocumentStatus, DocumentType


class CollectionFilter(admin.SimpleListFilter):
    """By collection; ``lookup`` leads from the listed rows to the collection's slug."""

    title = _("collection")
    parameter_name = "collection"
    lookup = "collection__slug"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        """Offer the visible collections."""
        visible = Collection.objects.visible_to(principal_of(request)).order_by("slug")
        return [(collection.slug, collection.name) for collection in visible]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the rows of the chosen collection."""
        return queryset.filter(**{self.lookup: self.value()}) if self.value() else queryset


class ChunkCollectionFilter(CollectionFilter):
    lookup = "version__document__collection__slug"


class StateFilter(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        """Offer every state."""
        return [(state.value, str(state.label)) for state in DocumentStatus]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the documents in the chosen state; a retired one is in no other."""
        if not self.value():
            return queryset
        if self.value() == DocumentStatus.RETIRED:
            return queryset.filter(retired_at__isnull=False)
        return queryset.filter(retired_at__isnull=True, latest_version__status=self.value())


class TypeFilter(admin.SimpleListFilter):
    title = _("document type")
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        """Offer every document type."""
        return [(kind.code, str(kind)) for kind in DocumentType.objects.all()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the documents of the chosen type."""
        return queryset.filter(document_type_id=self.value()) if self.value() else queryset


class ContentFilter(admin.SimpleListFilter):
    title = _("contains")
    parameter_name = "contains"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        """Offer what a chunk may hold besides text."""
        return [("table", str(_("table"))), ("figure", str(_("figure")))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chunks with a table or a figure."""
        if self.value() == "table":
            return queryset.filter(has_table=True)
        return queryset.filter(has_figure=True) if self.value() == "figure" else queryset
