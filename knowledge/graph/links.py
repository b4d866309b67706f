"""Paths by which a document is joined to what it answers to: articles of guidelines, and parts of other documents.

No permission filter is applied: the documents are ones that the caller may read. A path is shown to people only after
`shown_to`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from django.db.models import Q

from hub.access.principals import Principal
from knowledge.graph.reading import keys_of
from knowledge.models import GraphEdge, GraphNode
from knowledge.types.graph import Edge, GraphPath

# The most paths that one question is answered with.
MAX_PATHS = 40
_NAMING = ("DEFINES", "TRACES_TO", "REFERENCES")
_PARTS = ("Section", "Figure", "Table")


def find_paths(document_id: str, related: Sequence[str], links: Sequence[str]) -> tuple[GraphPath, ...]:
    """Find the paths from a document by ``links`` (codes of articles, identifiers, ids of documents) to their ends.

    A duty goes over the document's type to the article; an identifier from the section that names it to the section of
    a related document that does. At most MAX_PATHS. One query, two more with related documents.
    """
    if not links:
        return ()
    keys = keys_of(links)
    found = list(_duties(document_id, keys))
    if related:
        found += _meetings(document_id, related, keys)
    return tuple(dict.fromkeys(found))[:MAX_PATHS]


def find_meetings(document_id: str, related: Sequence[str]) -> tuple[GraphPath, ...]:
    """Find the paths from a document to what it and related documents both name. At most MAX_PATHS; two queries."""
    return tuple(dict.fromkeys(_meetings(document_id, related, None)))[:MAX_PATHS]


def in_words(paths: Sequence[GraphPath]) -> list[str]:
    """Write each path as a line (A -[REFERENCES]-> B). One query."""
    nodes = {node for path in paths for node in path.nodes}
    rows = GraphNode.objects.filter(public_id__in=nodes).values_list("public_id", "type_id", "name")
    called = {public_id: f"{kind}「{name}」" for public_id, kind, name in rows}
    return [_line(path, called) for path in paths]


def _line(path: GraphPath, called: Mapping[str, str]) -> str:
    words = [called[path.nodes[0]]]
    for node, (source, kind, _target) in zip(path.nodes[1:], path.edges, strict=True):
        words += [f"<-[{kind}]-" if source == node else f"-[{kind}]->", called[node]]
    return " ".join(words)


def _duties(document_id: str, keys: Collection[str]) -> Iterator[GraphPath]:
    rows = GraphEdge.objects.filter(
        type="MUST_COMPLY",
        source__incoming__type="CATEGORIZED_BY",
        source__incoming__source__public_id=document_id,
        target__keys__overlap=list(keys),
    ).order_by("target__key")
    for kind, article in rows.values_list("source__public_id", "target__public_id"):
        first: Edge = (document_id, "CATEGORIZED_BY", kind)
        yield GraphPath.along(first, (kind, "MUST_COMPLY", article), start=document_id)


def _meetings(document_id: str, related: Sequence[str], keys: Collection[str] | None) -> Iterator[GraphPath]:
    """Paths to nodes that sections of both documents name, and to related documents that sections name."""
    naming: dict[str, list[tuple[str, tuple[Edge, ...]]]] = defaultdict(list)
    for document, edges in _named_by([document_id, *related], keys):
        naming[edges[-1][2]].append((document, edges))
    for node, places in sorted(naming.items()):
        # one place in each document, rather the one that defines it
        first = dict(sorted(places, key=lambda place: (place[1][-1][1] != "DEFINES", place[1]), reverse=True))
        own = first.pop(document_id, None)
        if own is None:
            continue
        if node in related:
            yield GraphPath.along(*own, start=document_id)
        for _document, others in sorted(first.items()):
            yield GraphPath.along(*own, *reversed(others), start=document_id)


def _named_by(documents: Sequence[str], keys: Collection[str] | None) -> Iterator[tuple[str, tuple[Edge, ...]]]:
    """The edges from documents, over their sections, to the nodes with such a key (None: any) and to each other."""
    named = GraphEdge.objects.filter(type__in=_NAMING).exclude(target__type__in=_PARTS)
    if keys is not None:
        named = named.filter(Q(target__keys__overlap=list(keys)) | Q(target__public_id__in=documents))
    direct = named.filter(source__type="Document", source__public_id__in=documents)
    for document, kind, node in direct.values_list("source__public_id", "type_id", "target__public_id"):
        yield document, ((document, kind, node),)
    parts = named.filter(
        source__incoming__type="HAS_SECTION", source__incoming__source__public_id__in=documents
    ).values_list("source__incoming__source__public_id", "source__public_id", "type_id", "target__public_id")
    for document, section, kind, node in parts:
        yield document, ((document, "HAS_SECTION", section), (section, kind, node))


def shown_to(principal: Principal, paths: Collection[GraphPath]) -> frozenset[GraphPath]:
    """Keep the paths whose every edge, with both its ends, the caller may see in the graph now. One query."""
    visible = GraphEdge.objects.visible_between(principal, {node for path in paths for node in path.nodes})
    return frozenset(path for path in paths if visible.issuperset(path.edges))
