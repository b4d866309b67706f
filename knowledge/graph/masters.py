"""What masters contribute: document types and published ontologies, and what other apps register."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from django.db import transaction

from knowledge.facts import EdgeFact, Facts, NodeFact, NodeRef
from knowledge.graph.contribute import Contributor, contribute
from knowledge.graph.names import name_key
from knowledge.models import (
    ContributionKind,
    DocumentGraph,
    DocumentType,
    GraphMaster,
    OntologyClass,
    OntologyStatus,
)
from knowledge.ports import GraphMasterSource, graph_masters


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
        classes = OntologyClass.objects.filter(ontology__status=OntologyStatus.PUBLISHED)
        rows = list(classes.select_related("ontology").prefetch_related("parents").order_by("ontology_id", "pk"))
        return Facts(nodes=tuple(map(_concept, rows)), edges=tuple(edge for row in rows for edge in _broader(row)))


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


def _broader(row: OntologyClass) -> Iterator[EdgeFact]:
    for parent in row.parents.all():
        yield EdgeFact(source=_concept_ref(row), type="CATEGORIZED_BY", target=_concept_ref(parent))


BUILT_IN: tuple[GraphMasterSource, ...] = (DocumentTypes(), Ontologies())


def sync_masters() -> int:
    """Bring the graph in line with every master that changed since; gives how many did.

    Documents are read again then, since they may name what came. Twice at once does it once: the row is locked.
    """
    return sum(_sync(source) for source in (*BUILT_IN, *graph_masters()))


def _sync(source: GraphMasterSource) -> bool:
    facts = source.facts()
    fingerprint = _fingerprint(facts)
    if GraphMaster.objects.filter(name=source.name, fingerprint=fingerprint).exists():
        return False
    with transaction.atomic():
        GraphMaster.objects.get_or_create(name=source.name)
        master = GraphMaster.objects.select_for_update().get(pk=source.name)
        if master.fingerprint == fingerprint:
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
