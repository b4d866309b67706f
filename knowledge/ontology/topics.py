"""The topics that a document of some type is expected to treat, as the files that ship write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from knowledge.types.requirements import Topic

TOPIC_FILES = Path(__file__).resolve().parent.parent / "data" / "ontologies"


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
