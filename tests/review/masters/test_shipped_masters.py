"""The check lists that ship with the hub: complete, in two languages, and judged by rules that exist."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review.models import CheckItemVersion, CheckListEntry
from review.rules import get_rule
from review.shipped import CHECKLIST_FILES

CHECKLISTS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in CHECKLIST_FILES.glob("*.json")}
ITEMS = [pytest.param(item, id=item["code"]) for checklist in CHECKLISTS.values() for item in checklist["items"]]


@pytest.mark.parametrize("code", ["basic-design", "test-plan"])
def test_a_shipped_list_has_items_for_rules_and_at_least_three_for_a_model_only(code: str) -> None:
    items = CHECKLISTS[code]["items"]
    by_rules = [item for item in items if item["rules"]]
    assert len(items) >= 24
    assert len(by_rules) >= 16
    assert len(items) - len(by_rules) >= 3


@pytest.mark.parametrize("item", ITEMS)
def test_an_item_is_complete(item: dict[str, Any]) -> None:
    assert all(item[key][language] for key in ("name", "description") for language in ("ja", "en"))
    assert item["guideline_reference"]
    if not item["rules"]:
        assert item["prompt"]
        assert item["rubric"]
        assert item["expected_format"]
    for rule in item["rules"]:
        known = get_rule(rule["rule_id"])
        assert set(rule.get("params", {})) <= set(known.defaults), rule


@pytest.mark.django_db
def test_every_shipped_item_is_loaded_in_order_with_all_its_criteria() -> None:
    for code, checklist in CHECKLISTS.items():
        entries = CheckListEntry.objects.filter(checklist_version__checklist__code=code).order_by("position")
        assert list(entries.values_list("item_version__item__code", flat=True)) == [
            i["code"] for i in checklist["items"]
        ]
    loaded = CheckItemVersion.objects.get(item__code="BD-B06")
    assert {"prompt", "rubric", "expected_format", "threshold"} <= set(loaded.criteria)
