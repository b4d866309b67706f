"""Edges between named nodes are shown by the rights that every query of the graph has."""

from __future__ import annotations

import pytest

from hub.access.principals import Classification, Principal, Role, Scope, local_operator
from knowledge.models import Document, GraphEdge, GraphNode
from tests.factories import new_collection, principal_with

pytestmark = pytest.mark.django_db

Project = tuple[Document, Document, Document]


def test_edges_between_nodes_are_those_that_everybody_of_them_may_see_in_the_graph(project: Project) -> None:
    design = project[1]
    own = design.collection
    Document.objects.filter(pk=project[0].pk).update(classification=Classification.C3)
    GraphEdge.objects.filter(type="TRACES_TO").update(classification=Classification.C3)
    people: dict[str, Principal] = {
        "operator": local_operator(),
        "reader": principal_with(Role.READER, own),
        "elsewhere": principal_with(Role.READER, new_collection()),
        "stranger": principal_with(None, own),
    }
    nodes = set(GraphNode.objects.values_list("public_id", flat=True))
    some = set(sorted(nodes)[::2])
    counts = {}
    for who, principal in people.items():
        for asked in (nodes, some, set()):
            expected = GraphEdge.objects.visible_to(principal).filter(
                source__public_id__in=asked, target__public_id__in=asked
            )
            ends = expected.values_list("source__public_id", "type_id", "target__public_id")
            assert GraphEdge.objects.visible_between(principal, asked) == set(ends), who
        counts[who] = len(GraphEdge.objects.visible_between(principal, nodes))
    assert counts["operator"] > counts["reader"] > counts["stranger"] > 0
    assert counts["elsewhere"] == counts["stranger"]


def test_without_the_scope_no_edge_is_visible(project: Project) -> None:
    nodes = set(GraphNode.objects.values_list("public_id", flat=True))
    reader = principal_with(Role.READER, project[0].collection)
    assert GraphEdge.objects.visible_between(reader, nodes, Scope.READ)
    assert not GraphEdge.objects.visible_between(reader, nodes, Scope.CURATE) - GraphEdge.objects.visible_between(
        reader, nodes
    )
