"""The check masters that ship with the hub: loaded once, then curated; a newer edition becomes a draft."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from hub.access.principals import system_principal
from hub.access.versions import PublicationStatus
from knowledge.models import GuidelineArticle
from review.curation.master_versions import draft_checklist, draft_item
from review.judging.prompts import load_shipped_prompts
from review.masters.content import CRITERIA_FIELDS, ItemContent, field_changes
from review.masters.listing import content_of, item_versions_of, version_in_force
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

REASON = (
    "同梱のチェックリストの新しい版。人が変更・削除・追加した項目はそのまま。"
    " / New shipped edition; items that people changed, removed or added are kept."
)
logger = logging.getLogger(__name__)


def edition_of(items: Sequence[dict[str, Any]]) -> str:
    """Name the content of a shipped list: other items, another edition. 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(items, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]


def offer_edition(checklist: CheckList, items: Sequence[ItemContent], edition: str) -> CheckListVersion | None:
    """Make a draft with a shipped edition's changes unless it was offered before; None without anything to offer.

    An item that people changed stays as they made it, one that they took out stays out, and theirs stay in.
    """
    if checklist.versions.filter(shipped_edition=edition).exists():
        return None
    base = version_in_force(checklist) or checklist.versions.order_by("-number").first()
    current = item_versions_of(base) if base else []
    known = set(CheckItem.objects.values_list("code", flat=True))
    wanted = _merged(current, items, known)
    if base and wanted == current:
        CheckListVersion.objects.filter(pk=base.pk).update(shipped_edition=edition)
        return None
    principal = system_principal("shipped")
    versions = [one if isinstance(one, CheckItemVersion) else _drafted(one, edition) for one in wanted]
    draft = draft_checklist(principal=principal, checklist=checklist, items=versions, reason=REASON)
    CheckListVersion.objects.filter(pk=draft.pk).update(shipped_edition=edition)
    return draft


def _drafted(content: ItemContent, edition: str) -> CheckItemVersion:
    version = draft_item(principal=system_principal("shipped"), content=content, reason=REASON)
    version.shipped_edition = edition
    version.save(update_fields=["shipped_edition"])
    return version


def _merged(
    current: Sequence[CheckItemVersion], shipped: Sequence[ItemContent], known: Iterable[str]
) -> list[CheckItemVersion | ItemContent]:
    """The items in force, those of ours in the new edition's words, and new ones behind the item they follow there."""
    ours = {content.code: content for content in shipped}
    merged = [one for version in current if (one := _newer(version, ours)) is not None]
    codes = [version.item.code for version in current if _newer(version, ours) is not None]
    for place, content in enumerate(shipped):
        if content.code in known:
            continue
        before = [codes.index(one.code) for one in shipped[:place] if one.code in codes]
        at = max(before) + 1 if before else 0
        merged.insert(at, content)
        codes.insert(at, content.code)
    return merged


def _newer(version: CheckItemVersion, ours: dict[str, ItemContent]) -> CheckItemVersion | ItemContent | None:
    """What takes the place of an item version: itself, its new edition, or nothing when that no longer has it."""
    if not version.shipped_edition:
        return version
    content = ours.get(version.item.code)
    if content is None or not field_changes(content_of(version), content):
        return version if content else None
    return content


CHECKLIST_FILES = Path(__file__).resolve().parent / "data" / "checklists"
SCENARIO_FILES = Path(__file__).resolve().parent / "data" / "scenarios"
MAPPING_FILES = Path(__file__).resolve().parent / "data" / "mappings"


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
            **_in_both(entry, "rationale"),
        )


def _load(source: dict[str, Any], edition: str) -> None:
    approved = {"status": MasterStatus.APPROVED, "approved_at": timezone.now(), "shipped_edition": edition}
    checklist = CheckList.objects.create(
        code=source["code"],
        document_types=source["document_types"],
        ontology_domain=source["ontology_domain"],
        **_in_both(source, "name"),
    )
    master = CheckListVersion.objects.create(checklist=checklist, **approved)
    for position, entry in enumerate(source["items"]):
        values = asdict(_content(entry))
        item = CheckItem.objects.create(code=values.pop("code"), category=values["category"])
        version = CheckItemVersion.objects.create(item=item, **values, **approved)
        CheckListEntry.objects.create(checklist_version=master, item_version=version, position=position)


def _content(entry: dict[str, Any]) -> ItemContent:
    same = ("code", "category", "strategy", "guideline_reference", "priority")
    return ItemContent(
        **{name: entry[name] for name in same},
        **_in_both(entry, "name", "description"),
        check_type=entry["type"],
        criteria={key: entry[key] for key in CRITERIA_FIELDS if key in entry},
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
            proof=step["proof"],
            **_in_both(step, "title", "description", "expected"),
        )
        for position, step in enumerate(source["steps"], 1)
    )


def _in_both(source: dict[str, Any], *names: str) -> dict[str, str]:
    return {f"{name}_{language}": source[name][language] for name in names for language in ("ja", "en")}
