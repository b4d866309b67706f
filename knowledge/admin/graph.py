"""The knowledge graph: its types, which curators decide on, and the nodes and edges that are in it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.db.models.deletion import ProtectedError
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.admin_site.base import HubTabularInline, everybody, holders, nobody
from hub.admin_site.keyset import KeysetModelAdmin
from hub.admin_site.pages import principal_of
from hub.core.errors import Conflict
from knowledge.admin.addresses import passage_address
from knowledge.admin.curated import CuratedAdmin, CuratedRowsMixin
from knowledge.admin.fields import LinesField
from knowledge.admin.node_properties import MOST_ROWS, PropertiesField, rows_of
from knowledge.graph.curation import (
    NodeDraft,
    curates_graph,
    delete_edge,
    delete_node,
    may_curate_in,
    save_pattern,
    write_edge,
    write_node,
)
from knowledge.graph.reading import name_key
from knowledge.models import (
    Collection,
    ContributionKind,
    DocumentVersion,
    EdgeEnds,
    EdgeType,
    GraphContribution,
    GraphEdge,
    GraphNode,
    IdentifierPattern,
    NodeType,
)


class GraphTypeAdmin(CuratedAdmin):
    """Everybody may look; curators write. The code is a name in queries: it never changes."""

    right = HubRight.ONTOLOGIES
    search_fields: tuple[str, ...] = ("code", "name_ja", "name_en")
    fixed_fields: tuple[str, ...] = ("code",)

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm[Any], change: bool) -> None:  # noqa: ANN401
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
        record_event(principal_of(request), "CONFIG_CHANGE", f"{kind}:{obj.pk or obj}", **facts)


class NodeTypeForm(forms.ModelForm[NodeType]):
    aliases = LinesField(label=_("aliases"))


@admin.register(NodeType)
class NodeTypeAdmin(GraphTypeAdmin):
    form = NodeTypeForm
    fields = ("code", "name_ja", "name_en", "aliases", "color")
    list_display = ("code", "name_ja", "name_en", "sample")

    @admin.display(description=_("colour"))
    def sample(self, row: NodeType) -> SafeString:
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
        return EdgeType.objects.prefetch_related("ends__source", "ends__target").order_by("code")

    @admin.display(description=_("joins"))
    def joins(self, row: EdgeType) -> str:
        return ", ".join(f"{end.source} → {end.target}" for end in row.ends.all())


@admin.register(IdentifierPattern)
class IdentifierPatternAdmin(GraphTypeAdmin):
    list_display = ("pattern", "node_type", "is_active", "note")
    search_fields = ("pattern", "note")
    fields = ("pattern", "node_type", "is_active", "note")
    fixed_fields = ()  # all of a pattern may change: documents are read again

    may_delete = holders

    def save_model(
        self, request: HttpRequest, obj: IdentifierPattern, form: forms.ModelForm[IdentifierPattern], change: bool
    ) -> None:
        """Save through the service, which refuses what can't be used."""
        save_pattern(principal=principal_of(request), pattern=obj)


SAID_SHOWN = 50


def said_by(rows: QuerySet[GraphContribution], principal: Principal) -> SafeString:
    """List what supports a node or an edge, with links; of documents, those that the person may read."""
    from_documents = rows.filter(version__in=DocumentVersion.objects.visible_to(principal))
    others = rows.exclude(kind=ContributionKind.DOCUMENT)
    shown = (from_documents | others).select_related("document", "version").order_by("kind", "pk")[:SAID_SHOWN]
    items = []
    for one in shown:
        if one.document is not None and one.version is not None:
            link = passage_address(one.document.public_id, one.version.number, one.start, one.end)
            items.append(format_html('<a class="hub-link" href="{}">{}</a>', link, one.document))
        else:
            items.append(format_html("{}: {}", one.get_kind_display(), one.source))
    return format_html_join(SafeString("<br>"), "{}", ((item,) for item in items)) or SafeString("-")


class GraphNodeForm(forms.ModelForm[GraphNode]):
    aliases = LinesField(label=_("aliases"))
    properties = PropertiesField(
        label=_("properties"),
        required=False,
        help_text=_("Rows without a value are left out. Saving gives empty rows."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        if "properties" in self.fields:
            self.fields["properties"].stored = self.instance.properties  # type: ignore[attr-defined]


@admin.register(GraphNode)
class GraphNodeAdmin(KeysetModelAdmin):
    form = GraphNodeForm
    list_display = ("name", "type", "code", "collection", "explore")
    list_filter = ("type", "collection")
    list_select_related = ("type", "collection")
    search_fields = ("keys",)
    search_help_text = _("Id, or the whole name, code or alias")
    fields = ("type", "collection", "name", "code", "aliases", "properties", "said", "explore")
    readonly_fields = ("said", "explore", "properties_in_words", "properties_to_read")
    fixed_fields = ("type", "collection")

    may_view = everybody  # the queryset holds only what the person may read

    def may_add(self, principal: Principal) -> bool:
        return curates_graph(principal)

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return may_curate_in(principal, obj.collection_id) if isinstance(obj, GraphNode) else curates_graph(principal)

    may_delete = may_change

    def get_queryset(self, request: HttpRequest) -> QuerySet[GraphNode]:
        visible = GraphNode.objects.visible_to(principal_of(request))
        return visible.select_related("type", "collection").order_by("-pk")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[GraphNode], search_term: str
    ) -> tuple[QuerySet[GraphNode], bool]:
        """Find by id or by a whole name, both indexed; the picture of the graph finds similar ones."""
        if not search_term:
            return queryset, False
        return queryset.filter(public_id=search_term) | queryset.filter(keys__contains=[name_key(search_term)]), False

    def get_fields(self, request: HttpRequest, obj: GraphNode | None = None) -> tuple[str, ...]:
        """Fields to fill in; the properties in words for who may not change them, and where they are too many to."""
        field = self._field_of_properties(request, obj)
        return tuple(field if name == "properties" else name for name in self.fields)

    def _field_of_properties(self, request: HttpRequest, obj: GraphNode | None) -> str:
        if obj is None:
            return "properties"
        if not self.has_change_permission(request, obj):
            return "properties_in_words"
        return "properties" if len(rows_of(obj.properties, types={})) <= MOST_ROWS else "properties_to_read"

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        if db_field.name == "collection":
            kwargs["queryset"] = Collection.objects.visible_to(principal_of(request)).order_by("slug")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: GraphNode, form: forms.ModelForm[GraphNode], change: bool) -> None:
        draft = NodeDraft(
            type=obj.type_id,
            name=obj.name,
            code=obj.code,
            aliases=form.cleaned_data["aliases"],
            properties=form.cleaned_data["properties"],
            collection=obj.collection,
        )
        written = write_node(principal=principal_of(request), draft=draft, node_id=obj.public_id if change else "")
        obj.__dict__.update(written.__dict__)

    def delete_model(self, request: HttpRequest, obj: GraphNode) -> None:
        if not delete_node(principal=principal_of(request), node=obj):
            messages.warning(request, _("Documents or masters still say so: the node stays."))

    @admin.display(description=_("properties"))
    def properties_in_words(self, node: GraphNode) -> SafeString | str:
        lines = ((one.name, one.in_words) for one in rows_of(node.properties))
        return format_html_join(SafeString("<br>"), "{}: {}", lines) or "-"

    @admin.display(description=_("properties"))
    def properties_to_read(self, node: GraphNode) -> SafeString:
        why = _("More than {limit} properties are too many for a form to send: here they can only be read.")
        return format_html("{}<br>{}", why.format(limit=MOST_ROWS), self.properties_in_words(node))

    @admin.display(description=_("said by"))
    def said(self, node: GraphNode) -> SafeString:
        viewer = node.__dict__.get("viewer")
        return said_by(node.contributions.all(), viewer) if viewer and node.pk else SafeString("-")

    @admin.display(description=_("picture"))
    def explore(self, node: GraphNode) -> SafeString:
        link = f"{reverse('admin:hub_graph')}?{urlencode({'entity': node.public_id})}"
        return format_html('<a class="hub-link" href="{}">{}</a>', link, _("Explore"))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> GraphNode | None:
        """Keep with the node who looks at it: passages are shown to those who may read them."""
        node: GraphNode | None = super().get_object(request, object_id, from_field)
        if node is not None:
            node.__dict__["viewer"] = principal_of(request)
        return node


class GraphEdgeForm(forms.ModelForm[GraphEdge]):
    def _post_clean(self) -> None:
        """The service judges; the same edge again is no error."""


@admin.register(GraphEdge)
class GraphEdgeAdmin(KeysetModelAdmin):
    form = GraphEdgeForm
    list_display = ("edge", "type", "times")
    list_filter = ("type",)
    raw_id_fields = ("source", "target")
    fields = ("type", "source", "target")

    may_view = everybody  # the queryset holds only what the person may read

    def may_add(self, principal: Principal) -> bool:
        return curates_graph(principal)

    may_change = nobody  # an edge is there or not

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return may_curate_in(principal, obj.collection_id) if isinstance(obj, GraphEdge) else curates_graph(principal)

    def get_queryset(self, request: HttpRequest) -> QuerySet[GraphEdge]:
        visible = GraphEdge.objects.visible_to(principal_of(request))
        return visible.select_related("type", "source", "target").order_by("-pk")

    def save_model(self, request: HttpRequest, obj: GraphEdge, form: forms.ModelForm[GraphEdge], change: bool) -> None:
        asked = form.cleaned_data
        written = write_edge(
            principal=principal_of(request),
            source=asked["source"],
            edge_type=asked["type"].pk,
            target=asked["target"],
        )
        obj.__dict__.update(written.__dict__)

    def delete_model(self, request: HttpRequest, obj: GraphEdge) -> None:
        if not delete_edge(principal=principal_of(request), edge=obj):
            messages.warning(request, _("Documents or masters still say so: the edge stays."))

    @admin.display(description=_("times that the document says so"))
    def times(self, row: GraphEdge) -> str:
        return str(row.properties.get("mentions", "-"))

    @admin.display(description=_("edge"))
    def edge(self, row: GraphEdge) -> str:
        return f"{row.source.name} → {row.target.name}"
