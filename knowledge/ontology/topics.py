"""The topic lists that ship with the hub: which topics a document of some type is expected to treat."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from knowledge.types import Topic

TOPIC_FILES = Path(__file__).resolve().parent.parent / "data" / "ontologies"


@lru_cache(maxsize=1)
def shipped_topics() -> dict[str, tuple[Topic, ...]]:
    """Return the shipped topics by document type, in the order of their file."""
    by_type: dict[str, tuple[Topic, ...]] = {}
    for path in sorted(TOPIC_FILES.glob("*.json")):
        domain = json.loads(path.read_text(encoding="utf-8"))
        topics = tuple(read_topic(entry) for entry in domain.get("topics", ()))
        by_type |= dict.fromkeys(domain.get("document_types", ()), topics)
    return by_type


def load_topics(document_type: str) -> tuple[Topic, ...]:
    """Return the shipped topics for a document type; empty when none is shipped for it."""
    return shipped_topics().get(document_type, ())


def read_topic(entry: dict[str, Any]) -> Topic:
    """Make a topic from its JSON form (see ``knowledge/data/ontologies``).

    :raises KeyError: a mandatory field is missing.
    """
    return Topic(
        code=entry["code"],
        label_ja=entry["label"]["ja"],
        label_en=entry["label"]["en"],
        synonyms=tuple(entry["synonyms"]),
        cues=tuple(entry["cues"]),
        required=entry.get("required", True),
        severity=entry["severity"],
        expected_location=entry["expected_location"]["ja"],
        category=entry["category"],
        exclusions=tuple(entry.get("exclusions", ())),
        whole_document=entry.get("whole_document", False),
        expected_location_en=entry["expected_location"]["en"],
        elements_ja=tuple(entry["elements"]["ja"]),
        elements_en=tuple(entry["elements"]["en"]),
        example=entry["example"]["plain"],
        example_polite=entry["example"]["polite"],
    )
