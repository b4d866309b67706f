"""Bringing the graph in line with documents: what the current version says, and nothing of retired ones.

State lives in ``DocumentGraph``; a document is due while that differs from the document. Updating it twice, or being
killed at any point, leaves the same rows: everything is written in one transaction, and the sweep finds what is due.
"""

from __future__ import annotations

import hashlib
import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from hub.access.versions import PublicationStatus
from hub.core.patterns import PatternRefused, PatternTooSlow
from knowledge.graph.contribute import contribute, contributor_of, withdraw_document
from knowledge.graph.extract import RULES, extract
from knowledge.graph.reading import SHORTEST_NAME, KnownName, SourceText, keys_of
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import (
    Document,
    DocumentGraph,
    DocumentVersion,
    GraphNode,
    IdentifierPattern,
    Ontology,
    VersionContent,
)
from knowledge.ontology.store import topics_of
from knowledge.types.requirements import Topic

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
BACKOFF = timedelta(seconds=30)
SWEEP_LIMIT = 100


def _patterns() -> list[tuple[str, str]]:
    patterns = IdentifierPattern.objects.filter(is_active=True).order_by("pattern")
    return list(patterns.values_list("pattern", "node_type_id"))


def _digest(patterns: list[tuple[str, str]]) -> str:
    """Name how documents are read now, by the extraction's own version and the curators' patterns."""
    return hashlib.sha256(repr((RULES, patterns)).encode()).hexdigest()[:32]


def due_documents(rules: str) -> QuerySet[Document]:
    """The documents whose graph is not what they are now: new versions, changed facts, changed rules, retired ones."""
    is_live = Q(retired_at__isnull=True, current_version__isnull=False)
    differs = (
        Q(graph__isnull=True)
        | Q(graph__version__isnull=True)
        | ~Q(graph__version=F("current_version"))
        | Q(graph__document_updated_at__isnull=True)
        | ~Q(graph__document_updated_at=F("updated_at"))
        | ~Q(graph__rules=rules)
    )
    waiting = Q(graph__isnull=True) | Q(graph__not_before__lte=Now(), graph__attempts__lt=MAX_ATTEMPTS)
    is_gone = Q(graph__isnull=False) & ~is_live
    return Document.objects.filter((is_live & differs & waiting) | is_gone)


def take_due() -> list[int]:
    """The keys of documents whose graph is due, oldest first."""
    due = due_documents(_digest(_patterns())).order_by("updated_at", "pk")
    return list(due.values_list("pk", flat=True)[:SWEEP_LIMIT])


def update_graph(document_pk: int) -> bool:
    """Bring the graph in line with a document; False when there is nothing to do, or it failed and is tried later."""
    patterns = _patterns()
    document = (
        due_documents(_digest(patterns))
        .filter(pk=document_pk)
        .select_related("current_version", "document_type")
        .first()
    )
    if document is None:
        return False
    if document.retired_at is not None or document.current_version is None:
        with transaction.atomic():
            _lock(document_pk)
            forget_document(document)
        return True
    try:
        _read_and_write(document, document.current_version, patterns)
    except Exception as error:
        logger.exception("the graph of document %s was not updated", document.public_id)
        _try_later(document, str(error) if isinstance(error, PatternTooSlow | PatternRefused) else type(error).__name__)
        return False
    return True


def update_graph_now(document_pk: int) -> None:
    """Bring the graph in line with a document that has just become ready, however often that failed before.

    A process that dies before the end leaves the document due; the sweep finds it.
    """
    DocumentGraph.objects.filter(document_id=document_pk).update(attempts=0, not_before=Now())
    update_graph(document_pk)


def forget_document(document: Document) -> int:
    """Take a document out of the graph, inside the caller's transaction; gives what it had supported."""
    DocumentGraph.objects.filter(document=document).delete()
    return withdraw_document(document)


def _read_and_write(document: Document, version: DocumentVersion, patterns: list[tuple[str, str]]) -> None:
    facts = extract(_source(document, version, patterns))
    with transaction.atomic():
        locked = _lock(document.pk)
        if locked is None or (locked.current_version_id, locked.updated_at, locked.retired_at) != (
            version.pk,
            document.updated_at,
            None,
        ):
            return  # it changed meanwhile: it is still due
        before = set(_keys(document))
        contribute(contributor_of(locked, version_pk=version.pk), facts)
        if new := [key for key in _keys(document) if key not in before and len(key) >= SHORTEST_NAME]:
            _read_again(document, new)
        state = DocumentGraph(
            document=document, version=version, document_updated_at=document.updated_at, rules=_digest(patterns)
        )
        DocumentGraph.objects.bulk_create(
            [state],
            update_conflicts=True,
            unique_fields=["document"],
            update_fields=["version", "document_updated_at", "rules", "attempts", "error"],
        )


def _lock(document_pk: int) -> Document | None:
    return Document.objects.select_for_update(of=["self"]).filter(pk=document_pk).first()


def _source(document: Document, version: DocumentVersion, patterns: list[tuple[str, str]]) -> SourceText:
    content = VersionContent.objects.get(pk=version.pk)
    return SourceText(
        document_id=document.public_id,
        title=document.title,
        path=document.path,
        document_type=document.document_type.code,
        text=content.markdown,
        sections=sections_of(content),
        blocks=blocks_of(content),
        names=_names("Document", Q(collection_id=document.collection_id) & ~Q(public_id=document.public_id)),
        articles=_articles(),
        patterns=dict(patterns),
        topics=_topics(document.document_type.code),
    )


def _names(node_type: str, where: Q) -> tuple[KnownName, ...]:
    rows = GraphNode.objects.filter(where, type=node_type).order_by("pk").values_list("public_id", "keys")
    return tuple(KnownName(key=key, node_id=public_id) for public_id, keys in rows for key in keys)


def _articles() -> tuple[KnownName, ...]:
    """Guideline articles by code, and by guideline and number; their titles (目的) are everybody's words."""
    rows = GraphNode.objects.filter(type="GuidelineArticle", collection__isnull=True).order_by("pk")
    return tuple(
        KnownName(key=key, node_id=public_id)
        for public_id, code, aliases in rows.values_list("public_id", "code", "aliases")
        for key in keys_of([code, *aliases])
    )


def _topics(document_type: str) -> tuple[Topic, ...]:
    """The topics of the published ontologies for documents of this type; of all where none is for it."""
    ontologies = Ontology.objects.filter(status=PublicationStatus.PUBLISHED).order_by("domain")
    published = list(ontologies.values_list("domain", "document_types"))
    fitting = [domain for domain, types in published if document_type in types]
    return topics_of(tuple(fitting or [domain for domain, _types in published]))


def _keys(document: Document) -> list[str]:
    keys = GraphNode.objects.filter(public_id=document.public_id).values_list("keys", flat=True).first()
    return list(keys or ())


def _read_again(document: Document, names: list[str]) -> None:
    """Documents of the collection whose text may name this one are due: it was not there when they were read."""
    written = [document.title, document.path.rpartition("/")[2], *names]
    named = Q()
    for name in dict.fromkeys(written):
        if len(name) >= SHORTEST_NAME:
            named |= Q(version__content__markdown__icontains=name)
    DocumentGraph.objects.filter(named, document__collection_id=document.collection_id).exclude(
        document=document
    ).update(version=None)


def _try_later(document: Document, error: str) -> None:
    DocumentGraph.objects.get_or_create(document=document)
    DocumentGraph.objects.filter(document=document).update(
        attempts=F("attempts") + 1, not_before=Now() + BACKOFF, error=error[:300], version=None
    )
