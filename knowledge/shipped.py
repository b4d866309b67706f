"""What ships with the hub: document types, the default collection, ontologies, guidelines; loaded once."""

from __future__ import annotations

import json
from typing import Any

from django.db import transaction
from django.utils import timezone

from knowledge.guidelines.shipped import load_guidelines
from knowledge.models import (
    Collection,
    DocumentType,
    LexicalField,
    LexicalStatistics,
    Ontology,
    OntologyClass,
    OntologyStatus,
)
from knowledge.ontology.topics import TOPIC_FILES, read_topic

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
    for field in LexicalField:
        LexicalStatistics.objects.get_or_create(field=field)
    for path in sorted(TOPIC_FILES.glob("*.json")):
        _load_ontology(json.loads(path.read_text(encoding="utf-8")))
    load_guidelines()


def _load_ontology(source: dict[str, Any]) -> None:
    ontology, is_new = Ontology.objects.get_or_create(
        domain=source["domain"],
        number=1,
        defaults={
            "name_ja": source["label"]["ja"],
            "name_en": source["label"]["en"],
            "document_types": source["document_types"],
            "status": OntologyStatus.PUBLISHED,
            "published_at": timezone.now(),
        },
    )
    if not is_new:
        return
    topics = [read_topic(entry) for entry in source["topics"]]
    OntologyClass.objects.bulk_create(
        OntologyClass(
            ontology=ontology,
            position=position,
            code=topic.code,
            label_ja=topic.label_ja,
            label_en=topic.label_en,
            synonyms=list(topic.synonyms),
            cues=list(topic.cues),
            exclusions=list(topic.exclusions),
            category=topic.category,
            required=topic.required,
            severity=topic.severity,
            whole_document=topic.whole_document,
            expected_location=topic.expected_location,
            expected_location_en=topic.expected_location_en,
            elements_ja=list(topic.elements_ja),
            elements_en=list(topic.elements_en),
            example=topic.example,
            example_polite=topic.example_polite,
        )
        for position, topic in enumerate(topics)
    )
