"""The check masters that ship with the hub; loaded once, then curated by people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from review.models import CheckItem, CheckItemVersion, CheckList, CheckListEntry, CheckListVersion, MasterStatus

CHECKLIST_FILES = Path(__file__).resolve().parent / "data" / "checklists"


@transaction.atomic
def load_shipped_content() -> None:
    """Load the check lists that are missing; those that are there are left alone."""
    for path in sorted(CHECKLIST_FILES.glob("*.json")):
        source = json.loads(path.read_text(encoding="utf-8"))
        if not CheckList.objects.filter(code=source["code"]).exists():
            _load(source)


def _load(source: dict[str, Any]) -> None:
    now = timezone.now()
    checklist = CheckList.objects.create(
        code=source["code"],
        name_ja=source["name"]["ja"],
        name_en=source["name"]["en"],
        document_types=source["document_types"],
        ontology_domain=source["ontology_domain"],
    )
    master = CheckListVersion.objects.create(checklist=checklist, status=MasterStatus.APPROVED, approved_at=now)
    for position, entry in enumerate(source["items"]):
        item = CheckItem.objects.create(code=entry["code"], category=entry["category"])
        version = CheckItemVersion.objects.create(
            item=item,
            status=MasterStatus.APPROVED,
            approved_at=now,
            name_ja=entry["name"]["ja"],
            name_en=entry["name"]["en"],
            description_ja=entry["description"]["ja"],
            description_en=entry["description"]["en"],
            check_type=entry["type"],
            strategy=entry["strategy"],
            guideline_reference=entry["guideline_reference"],
            priority=entry["priority"],
            criteria={"rules": entry["rules"]},
        )
        CheckListEntry.objects.create(checklist_version=master, item_version=version, position=position)
