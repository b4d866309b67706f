"""Why a walk over the graph found nothing: which relations there are instead."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Exists, OuterRef, Q

from hub.access.principals import Principal, Scope
from knowledge.models import EdgeType, GraphContribution, GraphEdge
from knowledge.types.notices import Notice, notice_of


def relations_in_use(
    principal: Principal, starts: Sequence[int], relations: Sequence[str], document: int | None
) -> Notice:
    """Say that nothing is joined to the starts by the wanted relations, and by which ones something is.

    Around the starts, else anywhere that the caller may search (in the document, where one is named). Two queries at
    most.
    """
    edges = GraphEdge.objects.visible_to(principal, Scope.SEARCH)
    if document is not None:
        edges = edges.filter(pk__in=GraphContribution.objects.filter(document=document).values("edge"))
    wanted = ", ".join(relations) or "-"
    around = set(edges.filter(Q(source__in=starts) | Q(target__in=starts)).values_list("type", flat=True).distinct())
    if around:
        return notice_of("graph", "relation_not_around", wanted=wanted, used=", ".join(sorted(around)))
    used = EdgeType.objects.filter(Exists(edges.filter(type=OuterRef("pk")))).order_by("code")
    codes = list(used.values_list("code", flat=True))
    if relations and not set(relations) & set(codes):
        return notice_of("graph", "relation_not_in_use", wanted=wanted, used=", ".join(codes) or "-")
    return notice_of("graph", "nothing_around", used=", ".join(codes) or "-")
