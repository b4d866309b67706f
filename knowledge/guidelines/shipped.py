"""The guidelines that ship with the hub: loaded once as published editions, then curated by people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.utils import timezone

from hub.core.publication import PublicationStatus
from knowledge.models import Guideline, GuidelineArticle, GuidelineEdition

GUIDELINE_FILES = Path(__file__).resolve().parent.parent / "data" / "guidelines"
_SAME = (
    "number",
    "title",
    "text",
    "category",
    "severity",
    "document_types",
    "headings",
    "applies_when",
    "required_elements",
    "source",
    "source_edition",
)


def load_guidelines() -> None:
    """Load the shipped guidelines that are missing; one that is there is left alone, whatever curators made of it."""
    for path in sorted(GUIDELINE_FILES.glob("*.json")):
        source = json.loads(path.read_text(encoding="utf-8"))
        if not Guideline.objects.filter(code=source["code"]).exists():
            _load(source)


def _load(source: dict[str, Any]) -> None:
    guideline = Guideline.objects.create(
        code=source["code"],
        prefix=source["prefix"],
        name_ja=source["name"]["ja"],
        name_en=source["name"]["en"],
        source=source["source"],
        publisher=source["publisher"],
        licence=source["licence"],
    )
    edition = GuidelineEdition.objects.create(
        guideline=guideline,
        label=source["edition"]["label"],
        status=PublicationStatus.PUBLISHED,
        published_at=timezone.now(),
    )
    rows = [
        GuidelineArticle(
            edition=edition,
            position=position,
            code=f"{guideline.prefix}{entry['number']}",
            **{name: entry[name] for name in _SAME},
        )
        for position, entry in enumerate(source["articles"])
    ]
    GuidelineArticle.objects.bulk_create(rows)
    by_number = {row.number: row for row in rows}
    for row in rows:
        row.parent = by_number.get(row.number.rpartition(".")[0])
    GuidelineArticle.objects.bulk_update(rows, ["parent"])
