"""What ships with the hub: document types, the default collection, the graph's types, ontologies, guidelines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from hub.access.versions import PublicationStatus
from knowledge.guidelines.imports import load_guidelines
from knowledge.models import Collection, DocumentType, EdgeEnds, EdgeType, NodeType, Ontology
from knowledge.ontology.facts import OntologyFacts
from knowledge.ontology.ontologies import create_version
from knowledge.ontology.shipped_files import shipped_ontologies

GRAPH_TYPES = Path(__file__).resolve().parent / "data" / "graph_types.json"
DOCUMENT_TYPES = (
    ("basic_design", "基本設計書", "Basic design"),
    ("detailed_design", "詳細設計書", "Detailed design"),
    ("requirements", "要件定義書", "Requirements definition"),
    ("test_plan", "テスト計画書", "Test plan"),
    ("guideline", "ガイドライン", "Guideline"),
    ("other", "その他", "Other"),
)


@transaction.atomic
def load_shipped_content() -> None:
    """Load what is missing; what curators changed is left alone."""
    for code, name_ja, name_en in DOCUMENT_TYPES:
        DocumentType.objects.get_or_create(code=code, defaults={"name_ja": name_ja, "name_en": name_en})
    Collection.objects.get_or_create(slug="default", defaults={"name": "既定のコレクション"})
    _load_graph_types(json.loads(GRAPH_TYPES.read_text(encoding="utf-8")))
    for version, facts in shipped_ontologies():
        _load_ontology(facts, version)
    load_guidelines()


def _load_graph_types(source: dict[str, Any]) -> None:
    """Types that are there stay as they are, with the ends that curators gave them."""
    for entry in source["nodes"]:
        NodeType.objects.get_or_create(code=entry["code"], defaults=entry)
    for entry in source["edges"]:
        names = {"name_ja": entry["name_ja"], "name_en": entry["name_en"]}
        edge_type, is_new = EdgeType.objects.get_or_create(code=entry["code"], defaults=names)
        if is_new:
            pairs = entry["ends"]
            EdgeEnds.objects.bulk_create(
                EdgeEnds(edge_type=edge_type, source_id=start, target_id=end) for start, end in pairs
            )


def _load_ontology(facts: OntologyFacts, version: str) -> None:
    """Publish a domain that is new; a newer shipped version of one in use becomes a draft for curators to publish."""
    versions = Ontology.objects.filter(domain=facts.domain)
    if versions.filter(shipped_version=version).exists():
        return
    published = versions.filter(status=PublicationStatus.PUBLISHED).first()
    made = create_version(facts, based_on=published, created_by="hub", shipped_version=version)
    if not versions.exclude(pk=made.pk).exists():
        versions.filter(pk=made.pk).update(
            status=PublicationStatus.PUBLISHED, published_at=timezone.now(), published_by="hub"
        )
