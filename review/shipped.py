"""The check masters that ship with the hub, and what they rest on; loaded once, then curated by people."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from hub.core.publication import PublicationStatus
from knowledge.models import GuidelineArticle
from review.curation.shipped_editions import edition_of, offer_edition
from review.judging.prompts import load_shipped_prompts
from review.masters.content import ItemContent
from review.models import (
    CheckItem,
    CheckItemVersion,
    CheckList,
    CheckListEntry,
    CheckListVersion,
    GuidelineMapping,
    MasterStatus,
    Scenario,
    ScenarioStep,
)

logger = logging.getLogger(__name__)

CHECKLIST_FILES = Path(__file__).resolve().parent / "data" / "checklists"
SCENARIO_FILES = Path(__file__).resolve().parent / "data" / "scenarios"
MAPPING_FILES = Path(__file__).resolve().parent / "data" / "mappings"
CRITERIA_KEYS = (
    "rules",
    "required_elements",
    "patterns",
    "terms",
    "prompt",
    "expected_format",
    "rubric",
    "threshold",
)


@transaction.atomic
def load_shipped_content() -> None:
    """Load the check lists, prompts and scenarios that are missing; a newer edition of a used list becomes a draft."""
    load_shipped_prompts()
    for path in sorted(CHECKLIST_FILES.glob("*.json")):
        source = json.loads(path.read_text(encoding="utf-8"))
        edition = edition_of(source["items"])
        if checklist := CheckList.objects.filter(code=source["code"]).first():
            offer_edition(checklist, [_content(entry) for entry in source["items"]], edition)
        else:
            _load(source, edition)
    for path in sorted(MAPPING_FILES.glob("*.json")):
        _load_mappings(json.loads(path.read_text(encoding="utf-8")))
    for path in sorted(SCENARIO_FILES.glob("*.json")):
        source = json.loads(path.read_text(encoding="utf-8"))
        if not Scenario.objects.filter(code=source["code"]).exists():
            _load_scenario(source)


def _load_mappings(source: dict[str, Any]) -> None:
    """Load a guideline's mappings when it has none yet, so that what curators took away does not come back."""
    articles = GuidelineArticle.objects.filter(edition__guideline__code=source["guideline"])
    known = set(articles.values_list("code", flat=True))
    if GuidelineMapping.objects.filter(article_code__in=known).exists():
        return
    items = {item.code: item for item in CheckItem.objects.all()}
    for entry in source["mappings"]:
        if entry["article"] not in known or entry["check_item"] not in items:
            logger.info("skipped mapping %s to %s: not there", entry["article"], entry["check_item"])
            continue
        GuidelineMapping.objects.create(
            article_code=entry["article"],
            check_item=items[entry["check_item"]],
            relation=entry["relation"],
            rationale_ja=entry["rationale"]["ja"],
            rationale_en=entry["rationale"]["en"],
        )


def _load(source: dict[str, Any], edition: str) -> None:
    approved = {"status": MasterStatus.APPROVED, "approved_at": timezone.now(), "shipped_edition": edition}
    checklist = CheckList.objects.create(
        code=source["code"],
        name_ja=source["name"]["ja"],
        name_en=source["name"]["en"],
        document_types=source["document_types"],
        ontology_domain=source["ontology_domain"],
    )
    master = CheckListVersion.objects.create(checklist=checklist, **approved)
    for position, entry in enumerate(source["items"]):
        values = asdict(_content(entry))
        item = CheckItem.objects.create(code=values.pop("code"), category=values["category"])
        version = CheckItemVersion.objects.create(item=item, **values, **approved)
        CheckListEntry.objects.create(checklist_version=master, item_version=version, position=position)


def _content(entry: dict[str, Any]) -> ItemContent:
    return ItemContent(
        code=entry["code"],
        category=entry["category"],
        name_ja=entry["name"]["ja"],
        name_en=entry["name"]["en"],
        description_ja=entry["description"]["ja"],
        description_en=entry["description"]["en"],
        check_type=entry["type"],
        strategy=entry["strategy"],
        guideline_reference=entry["guideline_reference"],
        priority=entry["priority"],
        criteria={key: entry[key] for key in CRITERIA_KEYS if key in entry},
    )


def _load_scenario(source: dict[str, Any]) -> None:
    scenario = Scenario.objects.create(
        code=source["code"],
        status=PublicationStatus.PUBLISHED,
        published_at=timezone.now(),
        role=source["role"],
        document_types=source["document_types"],
        **_in_both(source, "name", "description"),
    )
    ScenarioStep.objects.bulk_create(
        ScenarioStep(
            scenario=scenario,
            position=position,
            action=step["action"],
            page=step["page"],
            **_in_both(step, "title", "description", "expected"),
        )
        for position, step in enumerate(source["steps"], 1)
    )


def _in_both(source: dict[str, Any], *names: str) -> dict[str, str]:
    return {f"{name}_{language}": source[name][language] for name in names for language in ("ja", "en")}
