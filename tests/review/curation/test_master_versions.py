"""Versions of check masters: drafts, approval, days in force, retiring, differences, lint."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import Principal, Role, local_operator
from hub.core.errors import Conflict, Forbidden, InvalidInput
from review.curation import item_lint, master_versions
from review.masters.content import ItemContent, diff_masters
from review.masters.lint import lint_item, lint_master
from review.masters.listing import content_of, item_versions_of, list_check_items, version_in_force
from review.models import CheckListVersion, MasterStatus
from review.runs.reading_item import reading_item
from tests.factories import new_collection, principal_with

pytestmark = pytest.mark.django_db


def item(code: str = "X-01", **changes: Any) -> ItemContent:
    given = {
        "name_ja": "版管理",
        "name_en": "Versions",
        "description_ja": "版と日付が変更履歴に一致すること。",
        "check_type": "style",
        "guideline_reference": "JIS Z 8301",
        "criteria": {"rules": [{"rule_id": "document.version_mismatch"}]},
    }
    return ItemContent(code=code, **{**given, **changes})


def test_a_new_version_copies_the_entries_and_is_in_force_when_it_is_approved(
    curator: Principal, second: Principal, current: CheckListVersion
) -> None:
    draft = master_versions.copy_checklist_version(principal=curator, version=current)
    assert item_versions_of(draft) == item_versions_of(current)
    assert version_in_force(current.checklist) == current
    master_versions.approve_checklist_version(principal=second, version=draft)
    assert version_in_force(current.checklist) == draft
    assert draft.approved_by_id == second.user_id
    assert AuditEvent.objects.filter(action="MASTER_PUBLISH", resource=f"checklistversion:{draft}").exists()
    codes = [version.item.code for _list, version in list_check_items(curator, checklist="test-plan")]
    assert len(codes) == len(set(codes))


def test_a_draft_whose_base_was_overtaken_is_approved_by_who_says_what_it_replaces(
    curator: Principal, second: Principal, current: CheckListVersion
) -> None:
    earlier, later = (
        master_versions.copy_checklist_version(principal=curator, version=current) for _number in range(2)
    )
    master_versions.approve_checklist_version(principal=second, version=earlier)
    for said in (None, current.number, later.number):
        with pytest.raises(Conflict, match=str(earlier)) as refused:
            master_versions.approve_checklist_version(principal=second, version=later, replaces=said)
        assert refused.value.error_code == "base_overtaken"
        assert refused.value.data["replaces"] == earlier.number
    assert version_in_force(current.checklist) == earlier
    master_versions.approve_checklist_version(principal=second, version=later, replaces=earlier.number)
    assert version_in_force(current.checklist) == later


def test_days_decide_which_version_is_in_force(
    curator: Principal, second: Principal, current: CheckListVersion
) -> None:
    tomorrow = timezone.localdate() + timedelta(days=1)
    draft = master_versions.copy_checklist_version(principal=curator, version=current)
    with pytest.raises(InvalidInput):
        master_versions.approve_checklist_version(
            principal=second, version=draft, effective_from=tomorrow, effective_to=timezone.localdate()
        )
    master_versions.approve_checklist_version(principal=second, version=draft, effective_from=tomorrow)
    assert version_in_force(current.checklist) == current
    assert CheckListVersion.objects.in_force(tomorrow).get(checklist=current.checklist) == draft


def test_a_retired_version_gives_way_to_the_one_before(
    curator: Principal, second: Principal, current: CheckListVersion
) -> None:
    draft = master_versions.copy_checklist_version(principal=curator, version=current)
    with pytest.raises(Conflict):
        master_versions.retire_version(principal=curator, version=draft)
    master_versions.approve_checklist_version(principal=second, version=draft)
    with pytest.raises(Conflict) as refused:
        master_versions.retire_version(principal=second, version=draft)
    assert refused.value.error_code == "second_person_needed"
    master_versions.retire_version(principal=local_operator(), version=draft)
    assert (draft.status, version_in_force(current.checklist)) == (MasterStatus.RETIRED, current)
    with pytest.raises(Conflict):
        master_versions.save_draft(principal=curator, version=draft)


def test_approving_a_list_approves_its_draft_items_unless_one_is_wrong(
    curator: Principal, second: Principal, current: CheckListVersion
) -> None:
    good = master_versions.draft_item(principal=curator, content=item(category="Z 新設"))
    draft = master_versions.draft_checklist(
        principal=curator, checklist=current.checklist, items=[*item_versions_of(current), good]
    )
    master_versions.approve_checklist_version(principal=second, version=draft)
    good.refresh_from_db()
    assert good.status == MasterStatus.APPROVED
    bad = master_versions.draft_item(principal=curator, content=item("X-02", criteria={}))
    with pytest.raises(InvalidInput, match="X-02"):
        master_versions.approve_item_version(principal=second, version=bad)
    with pytest.raises(Forbidden):
        master_versions.draft_item(principal=principal_with(Role.ADMINISTRATOR, new_collection()), content=item("X-03"))


def test_the_item_of_what_a_model_reads_is_of_no_list(
    curator: Principal, second: Principal, current: CheckListVersion
) -> None:
    draft = master_versions.draft_checklist(
        principal=curator, checklist=current.checklist, items=[*item_versions_of(current), reading_item()]
    )
    with pytest.raises(InvalidInput, match="READ-01"):
        master_versions.approve_checklist_version(principal=second, version=draft)


def test_versions_are_compared_field_by_field(curator: Principal, current: CheckListVersion) -> None:
    first, *rest = item_versions_of(current)
    before = content_of(first)
    changed = master_versions.draft_item(
        principal=curator, content=item(before.code, priority="low", criteria=before.criteria)
    )
    master_versions.draft_checklist(principal=curator, checklist=current.checklist, items=[changed, *rest[1:]])
    diff = master_versions.compare_versions(local_operator(), "test-plan", number=current.number + 1)
    assert diff.base == current
    assert [(change.code, change.kind.value) for change in diff.changes] == [
        (before.code, "changed"),
        (rest[0].item.code, "removed"),
    ]
    priority = next(each for each in diff.changes[0].fields if each.field == "priority")
    assert (priority.old, priority.new) == (before.priority, "low")


def test_moving_one_item_is_one_move() -> None:
    codes = ["A", "B", "C", "D"]
    old = [item(code) for code in codes]
    new = [item(code) for code in ("B", "C", "D", "A")]
    assert [(change.code, change.kind.value) for change in diff_masters(old, new)] == [("A", "moved")]


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [
        ("ABCDE", "BCEDA", [("E", 5, 3), ("A", 1, 5)]),
        ("ABCDE", "DECAB", [("D", 4, 1), ("E", 5, 2), ("A", 1, 4), ("B", 2, 5)]),  # C is in no longest run
        ("ABC", "XYCAB", [("A", 1, 4), ("B", 2, 5)]),
    ],
)
def test_items_that_keep_their_number_have_not_moved(old: str, new: str, moved: list[tuple[str, int, int]]) -> None:
    changes = diff_masters(list(map(item, old)), list(map(item, new)))
    shown = [(one.code, one.old_position, one.new_position) for one in changes if one.kind == "moved"]
    assert shown == moved


def test_an_orderly_item_has_no_remarks() -> None:
    assert lint_item(item()) == ()


@pytest.mark.parametrize(
    ("changes", "code", "weight"),
    [
        ({"criteria": {}}, "untestable", "error"),
        ({"guideline_reference": ""}, "no_guideline", "warning"),
        ({"description_ja": "適切に記載されていること。"}, "ambiguous", "warning"),
        ({"criteria": {"rules": [{"rule_id": "no.such"}]}}, "unknown_rule", "error"),
        ({"criteria": {"patterns": [{"pattern": "a\\nb", "must_occur": True}]}}, "unreachable_pattern", "error"),
        ({"criteria": {"required_elements": [{"name": "x", "sections": ["("]}]}}, "bad_pattern", "error"),
        (
            {"criteria": {"patterns": [{"pattern": "版", "must_occur": must} for must in (True, False)]}},
            "contradicting_pattern",
            "error",
        ),
        ({"criteria": {"terms": [{"use": "試験", "avoid": ["試験"]}]}}, "contradicting_term", "error"),
        ({"criteria": {"prompt": "確かめる。"}}, "incomplete_prompt", "warning"),
    ],
)
def test_the_lint_names_what_is_wrong(changes: dict[str, Any], code: str, weight: str) -> None:
    found = {remark.code: remark.weight.value for remark in lint_item(item(**changes))}
    assert found[code] == weight


def test_the_lint_names_the_item_that_overlaps_and_leaves_quoted_words_alone() -> None:
    (remark,) = lint_master([item("X-01"), item("X-02", name_ja="別の項目")])
    assert (remark.item, remark.code) == ("X-02", "overlapping")
    assert "X-01" in remark.message.ja
    assert lint_item(item(description_ja="解釈が分かれる表現（適切に、十分な など）がないこと。")) == ()


def test_the_shipped_masters_have_no_errors_and_no_overlaps() -> None:
    for code in ("basic-design", "test-plan"):
        remarks = item_lint.lint_checklist(local_operator(), code).remarks
        assert [(remark.item, remark.code, remark.message.en) for remark in remarks] == []
