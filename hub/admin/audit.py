"""The audit trail: read only, for superusers, and for auditors the lines about what they audit."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from hub.access.models import AuditEvent
from hub.access.principals import Principal, Scope
from hub.admin_site.base import ReadOnlyMixin
from hub.admin_site.keyset import KeysetModelAdmin
from hub.admin_site.pages import principal_of
from hub.audit.events import shown_details, visible_events
from knowledge.models import Collection

RECENT = 2000
DOORS = ("admin", "rest", "mcp", "cli", "task")


class ActionFilter(admin.SimpleListFilter):
    title = _("action")
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        """Offer what happened lately: the trail is too long to look for every action in it."""
        recent = model_admin.get_queryset(request).values_list("action", flat=True)[:RECENT]
        return [(action, action) for action in sorted(set(recent))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        return queryset.filter(action=self.value()) if self.value() else queryset


class DoorFilter(admin.SimpleListFilter):
    title = _("door")
    parameter_name = "door"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [(door, door) for door in DOORS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        return queryset.filter(door=self.value()) if self.value() else queryset


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyMixin, KeysetModelAdmin):
    list_display = ("at", "action", "principal", "resource", "door", "address", "request_id")
    list_display_links = ("at",)
    list_filter = (ActionFilter, DoorFilter)
    search_fields = ("resource",)
    search_help_text = "document:doc_…, review:rev_…, token:…"
    fields = ("at", "action", "principal", "resource", "own_details", "door", "address", "agent", "request_id")

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return principal.is_superuser or Collection.objects.visible_to(principal, Scope.AUDIT).exists()

    @admin.display(description=_("details"))
    def own_details(self, event: AuditEvent) -> str:
        return json.dumps(shown_details(event), ensure_ascii=False)

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEvent]:
        return visible_events(principal_of(request)).order_by("-pk")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent], search_term: str
    ) -> tuple[QuerySet[AuditEvent], bool]:
        if not search_term:
            return queryset, False
        return queryset.filter(resource__startswith=search_term) | queryset.filter(principal=search_term), False
