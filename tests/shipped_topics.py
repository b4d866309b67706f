"""The topics that ship, straight from their files: for tests of rules and coverage that need no database."""

from __future__ import annotations

import json
from functools import cache

from knowledge.ontology.shipped_files import TOPIC_FILES, read_topic
from knowledge.types.requirements import Topic


@cache
def load_topics(document_type: str) -> tuple[Topic, ...]:
    """The topics for a document type, in the order of their file; empty when none ship for it."""
    domains = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(TOPIC_FILES.glob("*.json"))]
    found = [domain for domain in domains if document_type in domain.get("document_types", ())]
    return tuple(read_topic(entry) for domain in found for entry in domain.get("topics", ()))
