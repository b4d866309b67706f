"""Check items that are tried before they are published, and published with their check list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.models import Document
from review.curation.master_versions import approve_checklist_version, draft_item, put_into_checklist
from review.curation.trying import compare_verdicts, reviews_to_compare, try_item
from review.masters.content import ItemContent
from review.masters.listing import get_checklist, item_versions_of, list_check_items, version_in_force
from review.models import CheckListVersion
from review.types import Verdict
from tests.factories import hub_curator, principal_with
from tests.review.conftest import review_text

pytestmark = pytest.mark.django_db

DESIGN = "# 予約システム 基本設計書\n\n## 1. 目的\n\n性能の目標は未定とする。保守は別途定める。\n"


def item(pattern: str = "未定", code: str = "X-90") -> ItemContent:
    criteria = {"patterns": [{"pattern": pattern, "must_occur": False}]}
    return ItemContent(
        code=code, name_ja="未定の語", name_en="Open words", check_type="style", strategy="hybrid", criteria=criteria
    )


def published(pattern: str, checklist: str) -> None:
    """Put an item with a forbidden pattern in force."""
    draft = draft_item(principal=hub_curator(), content=item(pattern))
    master = put_into_checklist(principal=hub_curator(), item=draft, code=checklist)
    approve_checklist_version(principal=hub_curator(), version=master)


@pytest.fixture
def checklist(tmp_path: Path) -> tuple[str, Any]:
    """The code of a check list that a review of a design was made with, and the review."""
    review = review_text(tmp_path, DESIGN)
    return review.checklist_version.checklist.code, review


def test_a_new_item_shows_what_it_would_find_with_the_words_quoted(checklist: tuple[str, Any]) -> None:
    trial = try_item(principal=local_operator(), content=item(), document_id=checklist[1].document_id_text)
    assert trial.before is None
    assert trial.after is Verdict.FAIL or trial.after is Verdict.WARNING
    assert [one.quote for one in trial.appeared] == ["未定"]
    assert not trial.gone
    assert not trial.kept
    assert AuditEvent.objects.filter(action="DOCUMENT_READ", details__part="item_trial").count() == 1


def test_a_changed_item_shows_what_appears_and_what_vanishes(checklist: tuple[str, Any]) -> None:
    published("未定", checklist[0])
    trial = try_item(principal=local_operator(), content=item("別途定める"), document_id=checklist[1].document_id_text)
    assert trial.before is trial.after
    assert [one.quote for one in trial.appeared] == ["別途定める"]
    assert [one.quote for one in trial.gone] == ["未定"]


def test_nothing_but_what_cannot_be_judged_by_is_refused(checklist: tuple[str, Any]) -> None:
    document_id = checklist[1].document_id_text
    with pytest.raises(InvalidInput, match="未定"):
        try_item(principal=local_operator(), content=item("(未定"), document_id=document_id)
    nameless = ItemContent(code="", check_type="style", criteria=item().criteria)
    assert try_item(principal=local_operator(), content=nameless, document_id=document_id).appeared
    without = ItemContent(code="X-91", check_type="style")
    assert try_item(principal=local_operator(), content=without, document_id=document_id).after is Verdict.SKIPPED


def test_only_curators_try_and_only_what_they_may_have_reviewed(checklist: tuple[str, Any]) -> None:
    document = Document.objects.select_related("collection").get(public_id=checklist[1].document_id_text)
    reader = principal_with(Role.READER, document.collection)
    with pytest.raises(Forbidden):
        try_item(principal=reader, content=item(), document_id=document.public_id)
    with pytest.raises(NotFound):
        try_item(principal=hub_curator(), content=item(), document_id=document.public_id)
    with pytest.raises(NotFound):
        compare_verdicts(principal=hub_curator(), content=item(), review_id=checklist[1].public_id)
    assert reviews_to_compare(hub_curator(), checklist[0]) == []


def test_the_verdicts_of_the_last_reviews_are_compared(checklist: tuple[str, Any]) -> None:
    code, review = checklist
    assert reviews_to_compare(local_operator(), code) == [review]
    found = compare_verdicts(principal=local_operator(), content=item(), review_id=review.public_id)
    assert found.before is None
    assert found.is_change
    published("未定", code)
    assert not compare_verdicts(principal=local_operator(), content=item(), review_id=review.public_id).is_change
    calm = compare_verdicts(principal=local_operator(), content=item("存在しない語"), review_id=review.public_id)
    assert (calm.before is not Verdict.PASS, calm.after) == (True, Verdict.PASS)


def test_an_item_is_published_in_place_of_its_version_in_force_or_at_the_end(checklist: tuple[str, Any]) -> None:
    code = checklist[0]
    before = [version.item.code for _list, version in list_check_items(local_operator(), checklist=code)]
    published("未定", code)
    after = [version for _list, version in list_check_items(local_operator(), checklist=code)]
    assert [version.item.code for version in after] == [*before, "X-90"]
    published("別途", code)
    again = [version for _list, version in list_check_items(local_operator(), checklist=code)]
    assert [version.item.code for version in again] == [*before, "X-90"]
    assert again[-1].number == 2


def test_a_refused_publication_leaves_one_draft_however_often_it_is_tried(
    checklist: tuple[str, Any],
) -> None:
    writer = hub_curator()
    draft = draft_item(principal=writer, content=item())
    for _time in range(2):
        master = put_into_checklist(principal=writer, item=draft, code=checklist[0])
        with pytest.raises(Conflict):
            approve_checklist_version(principal=writer, version=master)
    assert CheckListVersion.objects.filter(checklist__code=checklist[0], status="draft").count() == 1
    current = version_in_force(get_checklist(checklist[0]))
    assert current is not None
    assert draft not in item_versions_of(current)
