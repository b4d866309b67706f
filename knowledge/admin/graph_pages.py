"""The picture of the graph, and the traceability matrix."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from hub.access.principals import Principal
from hub.admin_site.pages import admin_page, principal_of, render_page
from hub.core.errors import HubError
from knowledge.admin.addresses import passage_address
from knowledge.admin.fields import collection_choices, type_names
from knowledge.admin.node_properties import rows_of
from knowledge.answering import walk_graph
from knowledge.graph.search import GraphQuery, GraphResult
from knowledge.graph.traceability import Matrix, matrix_workbook, traceability_matrix
from knowledge.models import Document, EdgeType, GraphContribution, NodeType

EXPANSION = 60
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@admin_page("graph/", name="hub_graph")
def graph_page(request: HttpRequest) -> HttpResponseBase:
    """Show the picture; a script asks ``graph/data/`` for what is around a node."""
    return render_page(
        request,
        "admin/hub/graph.html",
        title=_("Explore the graph"),
        entity=request.GET.get("entity", ""),
        node_types=list(NodeType.objects.order_by("code")),
        edge_types=list(EdgeType.objects.order_by("code")),
    )


@admin_page("graph/data/", name="hub_graph_data")
def graph_data(request: HttpRequest) -> HttpResponseBase:
    """Give the surroundings of an entity as JSON: nodes with links to their passages, edges, what was cut."""
    principal = principal_of(request)
    try:
        depth = int(request.GET.get("depth") or 1)
    except ValueError:
        depth = 0  # the search says which are allowed
    query = GraphQuery(entity=request.GET.get("entity", ""), max_depth=depth, limit=EXPANSION)
    try:
        found = walk_graph(principal, query)
    except HubError as error:
        return JsonResponse({"error": str(error)}, status=error.status)
    return JsonResponse(_picture(principal, found))


def _picture(principal: Principal, found: GraphResult) -> dict[str, Any]:
    links, types = _passages(principal, [node.id for node in found.nodes]), type_names()
    nodes = [
        {name: getattr(node, name) for name in ("id", "type", "name", "code")}
        | {"link": links.get(node.id, "")}
        | {"facts": {one.name: one.in_words for one in rows_of(node.properties, types)}}
        for node in found.nodes
    ]
    return {
        "starts": list(found.starts),
        "nodes": nodes,
        "edges": [{"source": edge.source, "target": edge.target, "type": edge.type} for edge in found.edges],
        "is_complete": found.is_complete,
    }


def _passages(principal: Principal, ids: list[str]) -> dict[str, str]:
    """Where each node is said, best place first, among the documents that the person may read. One query."""
    said = GraphContribution.objects.filter(
        node__public_id__in=ids, document__in=Document.objects.visible_to(principal), version__isnull=False
    )
    rows = said.order_by("rank", "-pk").values_list(
        "node__public_id", "document__public_id", "version__number", "start", "end"
    )
    return {node_id: passage_address(document, number, start, end) for node_id, document, number, start, end in rows}


class MatrixForm(forms.Form):
    """Which collection, which identifiers, and whether only rows with gaps. All of it is in the address."""

    collection = forms.ChoiceField(label=_("Collection"), widget=UnfoldAdminSelectWidget)
    identifiers = forms.CharField(max_length=40, required=False)
    only_gaps = forms.BooleanField(label=_("Only gaps"), required=False)

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.fields["collection"].choices = collection_choices(principal)  # type: ignore[attr-defined]


@admin_page("traceability/", name="hub_traceability")
def traceability_page(request: HttpRequest) -> HttpResponseBase:
    """Show requirements against documents, or give them as an Excel file with ``format=xlsx``."""
    principal = principal_of(request)
    form = MatrixForm(request.GET if "collection" in request.GET else None, principal=principal)
    context: dict[str, Any] = {"form": form}
    if form.is_bound and form.is_valid():
        asked = form.cleaned_data
        matrix = traceability_matrix(
            principal,
            collection=asked["collection"],
            prefix=asked["identifiers"],
            only_gaps=asked["only_gaps"],
            as_file=request.GET.get("format") == "xlsx",
        )
        if request.GET.get("format") == "xlsx":
            return _excel(matrix, asked["collection"])
        context |= _shown(matrix, asked["identifiers"])
    return render_page(request, "admin/hub/traceability.html", title=_("Traceability"), **context)


def _shown(matrix: Matrix, prefix: str) -> dict[str, Any]:
    types = type_names()
    numbers = {one.public_id: one.current_version.number for one in matrix.documents if one.current_version}
    rows = [
        {
            "row": row,
            "gaps": [types.get(code, code) for code in row.gaps],
            "cells": [
                {
                    "cell": cell,
                    "link": passage_address(cell.document_id, numbers.get(cell.document_id, 1), cell.start, cell.end),
                }
                if cell
                else None
                for cell in row.cells
            ],
        }
        for row in matrix.rows
    ]
    return {"matrix": matrix, "rows": rows, "prefix": prefix}


def _excel(matrix: Matrix, collection: str) -> HttpResponse:
    response = HttpResponse(matrix_workbook(matrix), content_type=EXCEL)
    response["Content-Disposition"] = f'attachment; filename="traceability-{collection}.xlsx"'
    return response
