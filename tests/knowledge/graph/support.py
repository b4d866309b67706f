"""Documents taken in with their graph, and the graph as sets that can be compared."""

from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from hub.access.principals import Principal, local_operator
from knowledge.ingest.content import content_of, store_content
from knowledge.ingest.graph import take_due, update_graph, update_graph_now
from knowledge.models import (
    Document,
    DocumentStatus,
    DocumentVersion,
    GraphContribution,
    GraphEdge,
    GraphNode,
    VersionContent,
)
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.registry import parse_file
from tests.factories import upload_text


def add(
    folder: Path,
    text: str,
    *,
    name: str = "設計書.md",
    collection: str = "default",
    principal: Principal | None = None,
    **more,
) -> Document:
    """Take a text in, parse it here, and make it current: the graph needs no vectors."""
    who = principal or local_operator()
    document = upload_text(who, folder, text, name=name, collection=collection, **more).document
    version = DocumentVersion.objects.get(pk=document.latest_version_id)
    if not VersionContent.objects.filter(pk=version.pk).exists():
        store_content(content_of(version, parse_file(folder / name, filename=name, limits=ParseLimits())))
    DocumentVersion.objects.filter(pk=version.pk).update(status=DocumentStatus.READY)
    title = version.content.title or name
    Document.objects.filter(pk=document.pk).update(current_version=version, updated_at=timezone.now(), title=title)
    update_graph_now(document.pk)
    return Document.objects.get(pk=document.pk)


def settle() -> None:
    """Bring the graph in line with every document that is due, as the sweep does."""
    while due := take_due():
        for document_pk in due:
            update_graph(document_pk)


def nodes(**where) -> set[tuple]:
    """The nodes without surrogate keys and revisions."""
    rows = GraphNode.objects.filter(**where)
    return set(rows.values_list("public_id", "type_id", "name", "code", "classification"))


def edges(*types: str) -> set[tuple[str, str, str]]:
    """The edges of some types (all without) as (source name, type, target name)."""
    rows = GraphEdge.objects.filter(type__in=types) if types else GraphEdge.objects.all()
    return set(rows.values_list("source__name", "type_id", "target__name"))


def everything() -> tuple[set, set, set]:
    """The whole graph of documents without surrogate keys."""
    said = GraphContribution.objects.filter(kind="document").values_list(
        "node__public_id", "edge__source__public_id", "edge__type", "edge__target__public_id", "start", "end", "rank"
    )
    return nodes(), edges(), set(said)
