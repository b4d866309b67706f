"""What ships with the hub: document types, the default collection, ontologies, guidelines; loaded once."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from knowledge.guidelines.shipped import load_guidelines
from knowledge.models import (
    Collection,
    DocumentType,
    Ontology,
    OntologyStatus,
)
from knowledge.ontology.facts import OntologyFacts
from knowledge.ontology.shipped_files import shipped_ontologies
from knowledge.services.ontologies import create_version

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
    for version, facts in shipped_ontologies():
        _load_ontology(facts, version)
    load_guidelines()


def _load_ontology(facts: OntologyFacts, version: str) -> None:
    """Publish a domain that is new; a newer shipped version of one in use becomes a draft for curators to publish."""
    versions = Ontology.objects.filter(domain=facts.domain)
    if versions.filter(shipped_version=version).exists():
        return
    published = versions.filter(status=OntologyStatus.PUBLISHED).first()
    made = create_version(facts, based_on=published, created_by="hub", shipped_version=version)
    if not versions.exclude(pk=made.pk).exists():
        versions.filter(pk=made.pk).update(
            status=OntologyStatus.PUBLISHED, published_at=timezone.now(), published_by="hub"
        )
