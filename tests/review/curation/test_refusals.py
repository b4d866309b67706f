"""What changing, trying and publishing check masters and prompts refuses, and that nothing has changed then."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.access.models import AuditEvent
from hub.access.principals import Principal, local_operator
from hub.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from knowledge.documents.deletion import delete_document
from review.curation import master_files, master_versions, prompts, trying
from review.evaluation.candidates import find_candidate, prompt_candidate
from review.masters.content import ItemContent
from review.masters.listing import item_versions_of
from review.models import CheckItemVersion, CheckList, CheckListVersion, JudgePrompt, MasterStatus
from tests.factories import upload_text
from tests.review.conftest import review_text

pytestmark = pytest.mark.django_db

ITEM = ItemContent(
    code="X-90",
    name_ja="未定の語",
    name_en="Open words",
    check_type="style",
    strategy="hybrid",
    criteria={"patterns": [{"pattern": "未定", "must_occur": False}]},
)


def drafted(curator: Principal, current: CheckListVersion, *items: CheckItemVersion) -> CheckListVersion:
    return master_versions.draft_checklist(principal=curator, checklist=current.checklist, items=items)


def approve(second: Principal, draft: CheckListVersion) -> None:
    master_versions.approve_checklist_version(principal=second, version=draft)


def test_a_new_check_list_has_a_code_of_its_own_and_known_document_types(curator: Principal) -> None:
    with pytest.raises(InvalidInput, match=r"minutes_of_nothing.*basic_design") as unknown:
        master_versions.create_checklist(
            principal=curator, code="own", name_ja="独自", document_types=["basic_design", "minutes_of_nothing"]
        )
    assert unknown.value.data["field"] == "document_types"
    made = master_versions.create_checklist(
        principal=curator, code="own", name_ja="独自", document_types=["basic_design"]
    )
    assert (made.name_en, made.document_types) == ("独自", ["basic_design"])
    with pytest.raises(Conflict) as taken:
        master_versions.create_checklist(principal=curator, code="own", name_ja="別の独自")
    assert taken.value.error_code == "checklist_exists"
    assert CheckList.objects.get(code="own").name_ja == "独自"
    assert AuditEvent.objects.filter(action="MASTER_CHANGE", resource="checklist:own").count() == 1


def test_a_list_is_not_approved_empty_or_with_an_item_twice_or_with_a_retired_one(
    curator: Principal, second: Principal, current: CheckListVersion
) -> None:
    first, *others = item_versions_of(current)
    empty = drafted(curator, current)
    with pytest.raises(InvalidInput) as refused:
        approve(second, empty)
    assert refused.value.error_code == "checklist_empty"
    again = master_versions.draft_item(principal=curator, content=ItemContent(code=first.item.code, check_type="style"))
    doubled = drafted(curator, current, first, again)
    with pytest.raises(InvalidInput, match=first.item.code):
        approve(second, doubled)
    master_versions.retire_version(principal=local_operator(), version=first)
    retired = drafted(curator, current, first, *others)
    with pytest.raises(InvalidInput, match=str(first)):
        approve(second, retired)
    for draft in (empty, doubled, retired):
        draft.refresh_from_db()
        assert draft.status == MasterStatus.DRAFT
    again.refresh_from_db()
    assert again.status == MasterStatus.DRAFT


def test_only_entries_of_the_draft_itself_are_given_places(curator: Principal, current: CheckListVersion) -> None:
    draft = master_versions.copy_checklist_version(principal=curator, version=current)
    before = list(draft.entries.order_by("position").values_list("pk", flat=True))
    foreign = current.entries.first()
    assert foreign is not None
    with pytest.raises(InvalidInput, match=str(foreign.pk)):
        master_versions.order_entries(principal=curator, version=draft, entries=[foreign, *draft.entries.all()])
    assert list(draft.entries.order_by("position").values_list("pk", flat=True)) == before


def test_a_file_that_is_too_large_is_not_read(curator: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master_files, "MAX_FILE_BYTES", 10)
    with pytest.raises(LimitExceeded, match="10"):
        master_files.preview_import(principal=curator, code="test-plan", filename="a.csv", content=b"x" * 11)


def test_a_document_without_text_cannot_be_tried(tmp_path: Path) -> None:
    document = upload_text(local_operator(), tmp_path, "# 設計書\n").document
    with pytest.raises(Conflict, match=document.path):
        trying.try_item(principal=local_operator(), content=ITEM, document_id=document.public_id)
    prompt = prompts.draft_prompt(principal=local_operator(), kind="judge", text="確かめる。")
    with pytest.raises(Conflict, match=document.path):
        prompts.try_prompt(
            principal=local_operator(), prompt_id=prompt.pk, check_item="BD-B02", document_id=document.public_id
        )
    with pytest.raises(NotFound, match="XX-99"):
        prompts.try_prompt(
            principal=local_operator(), prompt_id=prompt.pk, check_item="XX-99", document_id=document.public_id
        )


def test_verdicts_are_not_compared_for_a_document_that_has_been_deleted(tmp_path: Path) -> None:
    review = review_text(tmp_path, "# 設計書\n\n性能の目標は未定とする。\n")
    delete_document(principal=local_operator(), document_id=review.document_id_text)
    with pytest.raises(Conflict) as gone:
        trying.compare_verdicts(principal=local_operator(), content=ITEM, review_id=review.public_id)
    assert gone.value.error_code == "document_gone"
    assert trying.reviews_to_compare(local_operator(), review.checklist_version.checklist.code) == []


def test_a_prompt_is_of_a_known_kind_with_a_note_that_fits(curator: Principal) -> None:
    with pytest.raises(InvalidInput, match=r"judge.*'jury'"):
        prompts.draft_prompt(principal=curator, kind="jury", text="確かめる。")
    for text, note in (
        ("確\0かめる。", ""),
        ("確かめる。", "注\0記"),
        ("確かめる。", "注" * (prompts.LONGEST_NOTE + 1)),
    ):
        with pytest.raises(InvalidInput) as refused:
            prompts.draft_prompt(principal=curator, kind="judge", text=text, note=note)
        assert refused.value.data["field"] == "note"
    assert not JudgePrompt.objects.filter(author_id=curator.user_id).exists()
    with pytest.raises(NotFound):
        prompts.publish_prompt(principal=curator, prompt_id=0)


def test_who_wrote_a_candidate_is_told_beforehand_what_refuses_them(
    curator: Principal, second: Principal, current: CheckListVersion
) -> None:
    prompt = prompts.draft_prompt(principal=curator, kind="judge", text="確かめる。")
    draft = master_versions.copy_checklist_version(principal=curator, version=current)
    for name in (prompt_candidate(prompt).name, f"checklist:{current.checklist.code}@{draft.number}"):
        candidate = find_candidate(curator, name)
        said = prompts.refusal_to_publish(curator, candidate)
        assert prompts.refusal_to_publish(second, candidate) is None
        with pytest.raises(Conflict) as refused:
            prompts.publish_candidate(principal=curator, name=name)
        assert refused.value.error_code == "second_person_needed"
        assert str(said) == str(refused.value)
        prompts.publish_candidate(principal=second, name=name)
    draft.refresh_from_db()
    prompt.refresh_from_db()
    assert (draft.status, prompt.status) == (MasterStatus.APPROVED, "published")
