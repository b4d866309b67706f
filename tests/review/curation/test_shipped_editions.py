"""A newer shipped edition of a check list in use is offered as a draft; what people made of the list is kept."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hub.access.principals import local_operator
from hub.access.versions import PublicationStatus, put_in_force
from review.curation.master_versions import approve_checklist_version, draft_checklist, draft_item
from review.curation.prompts import draft_prompt
from review.masters.content import ItemContent
from review.masters.listing import content_of, item_versions_of, version_in_force
from review.models import CheckItemVersion, CheckList, CheckListVersion, JudgePrompt
from review.shipped import load_shipped_content, offer_edition

pytestmark = pytest.mark.django_db
OPERATOR = local_operator()


@pytest.fixture
def checklist() -> CheckList:
    return CheckList.objects.get(code="basic-design")


@pytest.fixture
def shipped(checklist: CheckList) -> list[ItemContent]:
    """What ships, as it was loaded."""
    return [content_of(version) for version in item_versions_of(version_in_force(checklist))]


def test_a_release_with_a_better_prompt_replaces_ours_and_leaves_curated_ones(monkeypatch, tmp_path) -> None:
    prompts = {row.kind: row for row in JudgePrompt.objects.filter(status=PublicationStatus.PUBLISHED)}
    curated = draft_prompt(principal=OPERATOR, kind="refute", text="疑わしいものは退ける。", note="試す")
    put_in_force(curated)
    newer = {kind: f"{row.text}\n- 改" for kind, row in prompts.items() if kind in ("sweep", "refute")}
    path = tmp_path / "prompts.json"
    path.write_text(json.dumps({kind: row.text for kind, row in prompts.items()} | newer, ensure_ascii=False))
    monkeypatch.setattr("review.judging.prompts.PROMPT_FILE", path)
    load_shipped_content()
    load_shipped_content()  # again: nothing more
    in_force = {row.kind: row for row in JudgePrompt.objects.filter(status=PublicationStatus.PUBLISHED)}
    assert (in_force["sweep"].text, in_force["sweep"].number) == (newer["sweep"], prompts["sweep"].number + 1)
    assert in_force["refute"] == curated
    assert in_force["second"] == prompts["second"]
    assert JudgePrompt.objects.get(pk=prompts["sweep"].pk).status == PublicationStatus.RETIRED


def named(version: CheckListVersion) -> dict[str, str]:
    return {one.item.code: one.name_ja for one in item_versions_of(version)}


def next_edition(shipped: list[ItemContent]) -> list[ItemContent]:
    """Two items in other words, one new behind the third, the last withdrawn."""
    changed = [
        replace(one, name_ja=f"{one.name_ja}（改）") if one.code in ("BD-A01", "BD-A02") else one for one in shipped
    ]
    new = replace(shipped[2], code="BD-A90", name_ja="新しい項目")
    return [*changed[:3], new, *changed[3:-1]]


def test_loading_again_offers_nothing(checklist):
    load_shipped_content()
    assert checklist.versions.count() == 1


def test_a_new_edition_is_a_draft_and_the_version_in_force_stays(checklist, shipped):
    before = version_in_force(checklist)
    draft = offer_edition(checklist, next_edition(shipped), "e2")
    assert draft.status == "draft"
    assert version_in_force(checklist) == before
    assert list(named(draft)) == [one.code for one in next_edition(shipped)]
    assert named(draft)["BD-A01"].endswith("（改）")
    unchanged = {one.pk for one in item_versions_of(before)} & {one.pk for one in item_versions_of(draft)}
    assert len(unchanged) == len(shipped) - 3
    assert offer_edition(checklist, next_edition(shipped), "e2") is None


def test_what_people_changed_added_and_took_out_is_kept(checklist, shipped):
    mine = draft_item(principal=OPERATOR, content=replace(shipped[0], name_ja="当室の版管理"))
    own = draft_item(principal=OPERATOR, content=replace(shipped[0], code="ZZ-01", name_ja="当室の項目"))
    kept = [one for one in item_versions_of(version_in_force(checklist)) if one.item.code not in ("BD-A01", "BD-A03")]
    master = draft_checklist(principal=OPERATOR, checklist=checklist, items=[own, mine, *kept])
    approve_checklist_version(principal=OPERATOR, version=master)
    draft = offer_edition(checklist, next_edition(shipped), "e2")
    offered = named(draft)
    assert list(offered)[:4] == ["ZZ-01", "BD-A01", "BD-A02", "BD-A90"]
    assert offered["BD-A01"] == "当室の版管理"
    assert offered["BD-A02"].endswith("（改）")
    assert "BD-A03" not in offered
    assert CheckItemVersion.objects.get(pk=mine.pk).name_ja == "当室の版管理"
    assert version_in_force(checklist) == master


def test_an_edition_that_changes_nothing_here_is_noted_without_a_draft(checklist, shipped):
    assert offer_edition(checklist, shipped, "e2") is None
    assert checklist.versions.count() == 1
    assert checklist.versions.get().shipped_edition == "e2"
