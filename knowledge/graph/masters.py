"""What masters contribute: document types, published ontologies and guidelines, and what other apps register."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from django.db import transaction

from hub.access.versions import PublicationStatus
from hub.core.scheduled_rows import for_each_row
from knowledge.extensions import GRAPH_MASTERS
from knowledge.facts import EdgeFact, Facts, NodeFact, NodeRef
from knowledge.graph.contribute import Contributor, contribute
from knowledge.graph.reading import name_key
from knowledge.models import ContributionKind, DocumentGraph, DocumentType, GraphMaster, GuidelineArticle, OntologyClass
from knowledge.ports import GraphMasterSource


@dataclass(frozen=True, slots=True)
class DocumentTypes:
    """Document types as nodes."""

    name: str = "document_types"

    def facts(self) -> Facts:
        """One node per document type; one query."""
        rows = DocumentType.objects.order_by("code")
        return Facts(
            nodes=tuple(
                NodeFact(
                    ref=NodeRef(type="DocumentType", key=name_key(row.code)),
                    name=row.name_ja,
                    code=row.code,
                    aliases=(row.name_en,),
                )
                for row in rows
            )
        )


@dataclass(frozen=True, slots=True)
class Ontologies:
    """The classes of the published ontologies as concepts, each in the category of its parents."""

    name: str = "ontologies"

    def facts(self) -> Facts:
        """One node per class, one edge per parent; two queries."""
        classes = OntologyClass.objects.filter(ontology__status=PublicationStatus.PUBLISHED)
        rows = list(classes.select_related("ontology").prefetch_related("parents").order_by("ontology_id", "pk"))
        return Facts(
            nodes=tuple(map(_concept, rows)),
            edges=tuple(
                EdgeFact(source=_concept_ref(row), type="CATEGORIZED_BY", target=_concept_ref(parent))
                for row in rows
                for parent in row.parents.all()
            ),
        )


def _concept(row: OntologyClass) -> NodeFact:
    return NodeFact(
        ref=_concept_ref(row),
        name=row.label_ja,
        code=row.code,
        aliases=tuple(dict.fromkeys((row.label_en, *row.synonyms))),
        properties={"domain": row.ontology.domain, "category": row.category or None, "required": row.required},
    )


def _concept_ref(row: OntologyClass) -> NodeRef:
    return NodeRef(type="Concept", key=name_key(row.code))


@dataclass(frozen=True, slots=True)
class Guidelines:
    """The articles of the published editions; documents of an article's types must comply with it."""

    name: str = "guidelines"

    def facts(self) -> Facts:
        """One node per article, an edge from its parent and from each document type; one query."""
        published = GuidelineArticle.objects.filter(edition__status=PublicationStatus.PUBLISHED)
        rows = list(published.select_related("edition__guideline", "parent").order_by("edition_id", "position"))
        return Facts(nodes=tuple(map(_article, rows)), edges=tuple(edge for row in rows for edge in _duties(row)))


def _article(row: GuidelineArticle) -> NodeFact:
    guideline = row.edition.guideline
    return NodeFact(
        ref=_article_ref(row.code),
        name=row.title,
        code=row.code,
        aliases=(f"{guideline.name_ja} {row.number}", f"{guideline.name_ja}{row.number}"),
        properties={
            "guideline": guideline.code,
            "edition": row.edition.number,
            "number": row.number,
            "category": row.category or None,
            "severity": row.severity,
        },
    )


def _article_ref(code: str) -> NodeRef:
    return NodeRef(type="GuidelineArticle", key=name_key(code))


def _duties(row: GuidelineArticle) -> Iterator[EdgeFact]:
    ref = _article_ref(row.code)
    if row.parent is not None:
        yield EdgeFact(source=_article_ref(row.parent.code), type="CONTAINS", target=ref)
    for document_type in row.document_types:
        source = NodeRef(type="DocumentType", key=name_key(document_type))
        yield EdgeFact(source=source, type="MUST_COMPLY", target=ref)


# In this order: what comes later may join what came before.
BUILT_IN: tuple[GraphMasterSource, ...] = (DocumentTypes(), Ontologies(), Guidelines())


def sync_masters() -> int:
    """Bring the graph in line with every master that changed since; gives how many were written.

    Those after one that changed are written again, since they may name what came with it; so are documents.
    Twice at once does it once: the row is locked. A master that fails is logged, and leaves the others theirs.
    """
    written = 0

    def sync(source: GraphMasterSource) -> None:
        nonlocal written
        written += _sync(source, is_due=written > 0)

    for_each_row("knowledge.sync_graph_masters", (*BUILT_IN, *GRAPH_MASTERS), sync, name=lambda source: source.name)
    return written


def _sync(source: GraphMasterSource, *, is_due: bool) -> bool:
    facts = source.facts()
    fingerprint = _fingerprint(facts)
    if not is_due and GraphMaster.objects.filter(name=source.name, fingerprint=fingerprint).exists():
        return False
    with transaction.atomic():
        GraphMaster.objects.get_or_create(name=source.name)
        master = GraphMaster.objects.select_for_update().get(pk=source.name)
        if master.fingerprint == fingerprint and not is_due:
            return False
        contribute(Contributor(kind=ContributionKind.MASTER, source=source.name), facts)
        GraphMaster.objects.filter(pk=source.name).update(fingerprint=fingerprint)
        DocumentGraph.objects.update(version=None)
    return True


def _fingerprint(facts: Facts) -> str:
    """A digest of all that is said, whatever its order."""
    said: list[NodeFact | EdgeFact] = [*facts.nodes, *facts.edges]
    lines = [json.dumps(asdict(fact), sort_keys=True, default=str) for fact in said]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
