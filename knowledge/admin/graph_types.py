"""The graph's types, and the patterns of identifiers: what the graph may hold is for curators to say."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.db.models.deletion import ProtectedError
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.admin_site.base import HubTabularInline
from hub.admin_site.callers import principal_of
from hub.core.errors import Conflict
from knowledge.admin.curated import CuratedAdmin, CuratedRowsMixin
from knowledge.admin.lines import LinesField
from knowledge.graph.curation import save_pattern
from knowledge.models import EdgeEnds, EdgeType, IdentifierPattern, NodeType


class GraphTypeAdmin(CuratedAdmin):
    """Everybody may look; curators write. The code is a name in queries: it never changes."""

    search_fields: tuple[str, ...] = ("code", "name_ja", "name_en")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        """Keep the code once it is used."""
        return ("code",) if obj else ()

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm[Any], change: bool) -> None:  # noqa: ANN401
        """Save, and write down what changed."""
        super().save_model(request, obj, form, change)
        self._record(request, obj, changed=sorted(form.changed_data))

    def delete_model(self, request: HttpRequest, obj: Any) -> None:  # noqa: ANN401
        """Delete a type that nothing has. Raises Conflict otherwise."""
        try:
            obj.delete()
        except ProtectedError as error:
            raise Conflict(_("Nodes or edges of this type are in the graph; they have to go first.")) from error
        self._record(request, obj, deleted=True)

    def _record(self, request: HttpRequest, obj: Model, **facts: object) -> None:
        kind = obj._meta.model_name
        record_event(
            principal=principal_of(request), action="CONFIG_CHANGE", resource=f"{kind}:{obj.pk or obj}", **facts
        )


class NodeTypeForm(forms.ModelForm[NodeType]):
    aliases = LinesField(label=_("aliases"))

    class Meta:
        model = NodeType
        fields = ("code", "name_ja", "name_en", "aliases", "color")


@admin.register(NodeType)
class NodeTypeAdmin(GraphTypeAdmin):
    form = NodeTypeForm
    list_display = ("code", "name_ja", "name_en", "sample")

    @admin.display(description=_("colour"))
    def sample(self, row: NodeType) -> SafeString:
        """Show the colour as in the picture of the graph."""
        return format_html('<span class="hub-graph-dot" style="background:{}"></span> {}', row.color, row.color)


class EdgeEndsInline(CuratedRowsMixin, HubTabularInline):
    """Which node types the edge type joins."""

    model = EdgeEnds
    fields = ("source", "target")
    extra = 0


@admin.register(EdgeType)
class EdgeTypeAdmin(GraphTypeAdmin):
    list_display = ("code", "name_ja", "name_en", "joins")
    fields = ("code", "name_ja", "name_en")
    inlines = (EdgeEndsInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[EdgeType]:
        """Load what each type joins with it."""
        return EdgeType.objects.prefetch_related("ends").order_by("code")

    @admin.display(description=_("joins"))
    def joins(self, row: EdgeType) -> str:
        """Show the pairs of node types."""
        return ", ".join(f"{end.source_id} → {end.target_id}" for end in row.ends.all())


@admin.register(IdentifierPattern)
class IdentifierPatternAdmin(GraphTypeAdmin):
    list_display = ("pattern", "node_type", "is_active", "note")
    search_fields = ("pattern", "note")
    fields = ("pattern", "node_type", "is_active", "note")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        """All of a pattern may change: documents are read again."""
        return ()

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return principal.curates_hub()

    def save_model(
        self, request: HttpRequest, obj: IdentifierPattern, form: forms.ModelForm[IdentifierPattern], change: bool
    ) -> None:
        """Save through the service, which refuses what can't be used."""
        save_pattern(principal=principal_of(request), pattern=obj)
