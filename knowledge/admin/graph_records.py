"""Nodes and edges of the graph: what documents and masters say, and what curators add."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.admin_site.callers import principal_of
from hub.admin_site.keyset import KeysetModelAdmin
from knowledge.admin.lines import LinesField
from knowledge.graph.curation import (
    NodeDraft,
    curates_graph,
    delete_edge,
    delete_node,
    may_curate_in,
    write_edge,
    write_node,
)
from knowledge.graph.reading import name_key
from knowledge.models import Collection, ContributionKind, DocumentVersion, GraphContribution, GraphEdge, GraphNode

SAID_SHOWN = 50


def passage_link(contribution: GraphContribution) -> str:
    """The address of the passage that says so."""
    document, version = contribution.document, contribution.version
    if document is None or version is None:
        return ""
    link = reverse("admin:knowledge_document_by_id", args=[document.public_id])
    place = urlencode({"version": version.number, "start": contribution.start or 0, "end": contribution.end or 0})
    return f"{link}?{place}" if contribution.start is not None else link


def said_by(rows: QuerySet[GraphContribution], principal: Principal) -> SafeString:
    """List what supports a node or an edge, with links; of documents, those that the person may read."""
    from_documents = rows.filter(version__in=DocumentVersion.objects.visible_to(principal))
    others = rows.exclude(kind=ContributionKind.DOCUMENT)
    shown = (from_documents | others).select_related("document", "version").order_by("kind", "pk")[:SAID_SHOWN]
    items = []
    for one in shown:
        if one.document is not None:
            items.append(format_html('<a class="hub-link" href="{}">{}</a>', passage_link(one), one.document))
        else:
            items.append(format_html("{}: {}", one.get_kind_display(), one.source))
    return format_html_join(SafeString("<br>"), "{}", ((item,) for item in items)) or SafeString("-")


class GraphNodeForm(forms.ModelForm[GraphNode]):
    aliases = LinesField(label=_("aliases"))

    class Meta:
        model = GraphNode
        fields = ("type", "collection", "name", "code", "aliases", "properties")


@admin.register(GraphNode)
class GraphNodeAdmin(KeysetModelAdmin):
    form = GraphNodeForm
    list_display = ("name", "type", "code", "collection", "explore")
    list_filter = ("type", "collection")
    list_select_related = ("type", "collection")
    search_fields = ("keys",)
    search_help_text = _("Id, or the whole name, code or alias")
    fields = ("type", "collection", "name", "code", "aliases", "properties", "said", "explore")
    readonly_fields = ("said", "explore")

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True  # the queryset holds only what the person may read

    def may_add(self, principal: Principal) -> bool:
        return curates_graph(principal)

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return may_curate_in(principal, obj.collection_id) if isinstance(obj, GraphNode) else curates_graph(principal)

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return self.may_change(principal, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[GraphNode]:
        """Keep what the person may read."""
        visible = GraphNode.objects.visible_to(principal_of(request))
        return visible.select_related("type", "collection").order_by("-pk")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[GraphNode], search_term: str
    ) -> tuple[QuerySet[GraphNode], bool]:
        """Find by id or by a whole name, both indexed; the picture of the graph finds similar ones."""
        if not search_term:
            return queryset, False
        return queryset.filter(public_id=search_term) | queryset.filter(keys__contains=[name_key(search_term)]), False

    def get_readonly_fields(self, request: HttpRequest, obj: GraphNode | None = None) -> tuple[str, ...]:
        """What a node is and where it belongs never changes."""
        return ("type", "collection", *self.readonly_fields) if obj else self.readonly_fields

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        """Offer the collections that the person may see."""
        if db_field.name == "collection":
            kwargs["queryset"] = Collection.objects.visible_to(principal_of(request)).order_by("slug")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: GraphNode, form: forms.ModelForm[GraphNode], change: bool) -> None:
        """Say it as a curator, beside what others say."""
        draft = NodeDraft(
            type=obj.type_id,
            name=obj.name,
            code=obj.code,
            aliases=form.cleaned_data["aliases"],
            properties=obj.properties if isinstance(obj.properties, dict) else {},
            collection=obj.collection,
        )
        written = write_node(principal=principal_of(request), draft=draft, node_id=obj.public_id if change else "")
        obj.__dict__.update(written.__dict__)

    def delete_model(self, request: HttpRequest, obj: GraphNode) -> None:
        """Take back what curators said."""
        if not delete_node(principal=principal_of(request), node=obj):
            messages.warning(request, _("Documents or masters still say so: the node stays."))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[GraphNode]) -> None:
        """Take back one by one."""
        for node in queryset:
            self.delete_model(request, node)

    @admin.display(description=_("said by"))
    def said(self, node: GraphNode) -> SafeString:
        """Show who says that it is there."""
        viewer = node.__dict__.get("viewer")
        return said_by(node.contributions.all(), viewer) if viewer and node.pk else SafeString("-")

    @admin.display(description=_("picture"))
    def explore(self, node: GraphNode) -> SafeString:
        """Lead to the picture around it."""
        link = f"{reverse('admin:hub_graph')}?{urlencode({'entity': node.public_id})}"
        return format_html('<a class="hub-link" href="{}">{}</a>', link, _("Explore"))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> GraphNode | None:
        """Keep with the node who looks at it: passages are shown to those who may read them."""
        node: GraphNode | None = super().get_object(request, object_id, from_field)
        if node is not None:
            node.__dict__["viewer"] = principal_of(request)
        return node


class GraphEdgeForm(forms.ModelForm[GraphEdge]):
    class Meta:
        model = GraphEdge
        fields = ("type", "source", "target")

    def _post_clean(self) -> None:
        """The service judges; the same edge again is no error."""


@admin.register(GraphEdge)
class GraphEdgeAdmin(KeysetModelAdmin):
    form = GraphEdgeForm
    list_display = ("edge", "type", "properties")
    list_filter = ("type",)
    raw_id_fields = ("source", "target")
    fields = ("type", "source", "target")

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True  # the queryset holds only what the person may read

    def may_add(self, principal: Principal) -> bool:
        return curates_graph(principal)

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return False  # an edge is there or not

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return may_curate_in(principal, obj.collection_id) if isinstance(obj, GraphEdge) else curates_graph(principal)

    def get_queryset(self, request: HttpRequest) -> QuerySet[GraphEdge]:
        """Keep what the person may read, with both ends."""
        visible = GraphEdge.objects.visible_to(principal_of(request))
        return visible.select_related("type", "source", "target").order_by("-pk")

    def save_model(self, request: HttpRequest, obj: GraphEdge, form: forms.ModelForm[GraphEdge], change: bool) -> None:
        """Join through the service."""
        asked = form.cleaned_data
        written = write_edge(
            principal=principal_of(request),
            source=asked["source"],
            edge_type=asked["type"].pk,
            target=asked["target"],
        )
        obj.__dict__.update(written.__dict__)

    def delete_model(self, request: HttpRequest, obj: GraphEdge) -> None:
        """Take back what curators said."""
        if not delete_edge(principal=principal_of(request), edge=obj):
            messages.warning(request, _("Documents or masters still say so: the edge stays."))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[GraphEdge]) -> None:
        """Take back one by one."""
        for edge in queryset:
            self.delete_model(request, edge)

    @admin.display(description=_("edge"))
    def edge(self, row: GraphEdge) -> str:
        """Show both ends."""
        return f"{row.source.name} → {row.target.name}"
