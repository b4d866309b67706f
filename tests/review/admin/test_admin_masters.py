from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Role
from knowledge.models import Collection, DocumentType, Ontology
from review.admin.checkitems import criteria_cells
from review.curation.master_versions import put_in_force_since, put_into_checklist
from review.masters.listing import version_in_force
from review.models import CheckItem, CheckItemVersion, CheckList, CheckListVersion, MasterStatus
from review.rules import get_rule
from tests.factories import hub_curator
from tests.hub.admin.support import client_of, curator_client, grant, make_user, second_client
from tests.hub.admin.test_asking import yes_to

pytestmark = pytest.mark.django_db
ITEM_VERSION_ADD = "admin:review_checkitemversion_add"
DIFF = "/admin/review/checklist/version/{}/diff/"
ITEM_VERSION = "admin:review_checkitemversion_change"


@pytest.fixture(name="curator_client")
def client_of_a_curator() -> Any:
    return curator_client()


@pytest.fixture(name="second_client")
def client_of_a_second_curator() -> Any:
    return second_client()


@pytest.fixture
def approved() -> CheckItemVersion:
    return CheckItemVersion.objects.filter(status=MasterStatus.APPROVED).earliest("pk")


def as_form(version: CheckItemVersion, **changed: object) -> dict[str, object]:
    names = ("name_ja", "name_en", "description_ja", "description_en", "guideline_reference", "check_type", "strategy")
    return {
        **{name: getattr(version, name) for name in (*names, "priority")},
        "item": version.item_id,
        **criteria_cells(version.criteria),
        **changed,
    }


def test_an_approved_version_is_read_only_even_for_superusers(approved: CheckItemVersion) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    page = reverse(ITEM_VERSION, args=[approved.pk])
    shown = unescape(client.get(page).content.decode())
    rule = approved.criteria["rules"][0]["rule_id"]
    assert f'<span title="{rule}">{get_rule(rule).title.ja}</span>' in shown
    assert shown.count(rule) == 1
    assert client.post(page, as_form(approved, name_ja="改ざん")).status_code == 403
    assert client.post(reverse("admin:review_checkitemversion_delete", args=[approved.pk])).status_code == 403


def test_a_new_version_starts_from_the_newest_and_gets_the_next_number(
    curator_client: Any, approved: CheckItemVersion
) -> None:
    form = curator_client.get(reverse(ITEM_VERSION_ADD), {"item": approved.item_id}).content.decode()
    assert approved.name_ja in form
    curator_client.post(reverse(ITEM_VERSION_ADD), as_form(approved, name_ja="新しい観点"))
    newest = CheckItemVersion.objects.latest("pk")
    assert (newest.item, newest.number, newest.status) == (approved.item, approved.number + 1, MasterStatus.DRAFT)
    assert newest.approved_at is None


def test_approving_a_draft_stamps_it_and_is_written_down(
    curator_client: Any, second_client: Any, approved: CheckItemVersion
) -> None:
    curator_client.post(reverse(ITEM_VERSION_ADD), as_form(approved))
    draft = CheckItemVersion.objects.latest("pk")
    page = reverse(ITEM_VERSION, args=[draft.pk])
    second_client.post(reverse("admin:review_checkitemversion_approve", args=[draft.pk]))
    draft.refresh_from_db()
    assert draft.status == MasterStatus.APPROVED
    assert draft.approved_at is not None
    assert AuditEvent.objects.filter(action="MASTER_PUBLISH", resource__endswith=str(draft)).exists()
    assert curator_client.post(page, as_form(draft, name_ja="改ざん")).status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        {"rules": "no.such_rule"},
        {"rules": "何か"},
        {"patterns": "禁止: (a+)+b"},
        {"terms": "サーバ"},
        {"threshold": "高"},
    ],
)
def test_criteria_that_can_not_be_judged_are_refused_at_their_field(
    curator_client: Any, approved: CheckItemVersion, wrong: dict[str, str]
) -> None:
    page = curator_client.post(reverse(ITEM_VERSION_ADD), as_form(approved, **wrong))
    assert list(page.context["adminform"].form.errors) == list(wrong)
    assert not CheckItemVersion.objects.filter(status=MasterStatus.DRAFT).exists()


def test_readers_look_at_masters_and_change_nothing(approved: CheckItemVersion) -> None:
    reader = make_user("高橋")
    grant(reader, Role.READER, Collection.objects.get(slug="default"))
    client = client_of(reader)
    assert approved.item.code in client.get(reverse("admin:review_checkitem_changelist")).content.decode()
    assert client.post(reverse(ITEM_VERSION_ADD), as_form(approved)).status_code == 403
    assert client.post(reverse("admin:review_checkitem_add"), {"code": "X-1"}).status_code == 403


def entries(*versions: CheckItemVersion, **more: object) -> dict[str, object]:
    form: dict[str, object] = {"entries-TOTAL_FORMS": len(versions), "entries-INITIAL_FORMS": 0, **more}
    for index, version in enumerate(versions):
        form |= {f"entries-{index}-item_version": version.pk, f"entries-{index}-position": index}
    return form


def test_a_check_list_version_is_made_copied_and_approved_with_its_draft_items(
    curator_client: Any, second_client: Any, approved: CheckItemVersion
) -> None:
    checklist = CheckList.objects.earliest("pk")
    page = reverse("admin:review_checklistversion_add")
    curator_client.post(page, {"checklist": checklist.pk} | entries())
    empty = CheckListVersion.objects.latest("pk")
    second_client.post(reverse("admin:review_checklistversion_approve", args=[empty.pk]))
    empty.refresh_from_db()
    assert empty.status == MasterStatus.DRAFT
    kept, *_dropped = criteria_cells(approved.criteria)["rules"].splitlines()
    curator_client.post(reverse(ITEM_VERSION_ADD), as_form(approved, name_ja="版の管理", rules=kept))
    draft = CheckItemVersion.objects.latest("pk")
    curator_client.post(page, {"checklist": checklist.pk, "reason": "年次見直し"} | entries(draft))
    made = CheckListVersion.objects.latest("pk")
    assert "版の管理" in curator_client.get(DIFF.format(made.pk)).content.decode()
    changes = unescape(curator_client.get(DIFF.format(made.pk), {"base": 1}).content.decode())
    dropped = approved.criteria["rules"][1]["rule_id"]
    assert (get_rule(dropped).title.ja in changes, dropped in changes) == (True, False)
    second_client.post(reverse("admin:review_checklistversion_approve", args=[made.pk]))
    made.refresh_from_db()
    draft.refresh_from_db()
    assert (made.status, draft.status) == (MasterStatus.APPROVED, MasterStatus.APPROVED)
    curator_client.post(reverse("admin:review_checklist_copy", args=[checklist.pk]))
    copied = CheckListVersion.objects.latest("pk")
    assert [entry.item_version for entry in copied.entries.all()] == [draft]
    administrator = client_of(make_user("管理", is_superuser=True))
    administrator.post(reverse("admin:review_checklistversion_retire", args=[made.pk]))
    made.refresh_from_db()
    assert made.status == MasterStatus.RETIRED


def test_a_workbook_is_exported_previewed_and_stored_as_a_draft(curator_client: Any) -> None:
    checklist = CheckList.objects.get(code="basic-design")
    exported = curator_client.get(reverse("admin:review_checklist_export", args=[checklist.pk]), {"format": "csv"})
    changed = exported.content.decode("utf-8-sig").replace("版管理", "版の管理")
    page = reverse("admin:review_checklist_import", args=[checklist.pk])
    preview = curator_client.post(page, {"file": SimpleUploadedFile("m.csv", changed.encode("utf-8-sig"))})
    assert "版の管理" in preview.content.decode()
    before = CheckListVersion.objects.count()
    curator_client.post(page, {"store": "1", "carried": preview.context["carried"], "reason": "見直し"})
    assert CheckListVersion.objects.count() == before + 1
    wrong = changed.replace("document.version_mismatch", "no.such_rule")
    refused = curator_client.post(page, {"file": SimpleUploadedFile("m.csv", wrong.encode("utf-8-sig"))})
    assert "no.such_rule" in refused.content.decode()
    assert not refused.context["carried"]


def test_the_lint_stands_below_the_form(curator_client: Any, approved: CheckItemVersion) -> None:
    curator_client.post(reverse(ITEM_VERSION_ADD), as_form(approved, guideline_reference=""))
    draft = CheckItemVersion.objects.latest("pk")
    page = curator_client.get(reverse(ITEM_VERSION, args=[draft.pk])).content.decode()
    assert "根拠となるガイドラインがありません" in page
    assert '<span class="hub-second">根拠ガイドライン</span>' in page


def test_the_list_of_check_lists_names_types_and_ontologies_and_the_version_in_force(curator_client: Any) -> None:
    page = curator_client.get(reverse("admin:review_checklist_changelist")).content.decode()
    row = page.split("basic-design</a>", 1)[1].split("</tr>", 1)[0]
    checklist = CheckList.objects.get(code="basic-design")
    for code in checklist.document_types:
        assert str(DocumentType.objects.get(code=code)) in row
        assert f">{code}<" not in row
    published = Ontology.objects.get(domain=checklist.ontology_domain, status="published")
    assert published.name_ja in row
    in_force = version_in_force(checklist)
    assert in_force is not None
    assert f"v{in_force.number}" in row


def test_types_and_ontology_of_a_check_list_are_chosen_by_name(curator_client: Any) -> None:
    checklist = CheckList.objects.get(code="basic-design")
    page = reverse("admin:review_checklist_change", args=[checklist.pk])
    name = str(DocumentType.objects.get(code="basic_design"))
    ontology = Ontology.objects.get(domain=checklist.ontology_domain, status="published").name_ja
    shown = curator_client.get(page).content.decode()
    assert f"{ontology}</option>" in shown
    assert 'value="basic_design"' in shown
    asked = {"name_ja": "一覧", "name_en": "List", "ontology_domain": checklist.ontology_domain}
    no_versions = {"versions-TOTAL_FORMS": 0, "versions-INITIAL_FORMS": 0}
    refused = curator_client.post(page, asked | no_versions | {"document_types": ["basic_design", "存在しない"]})
    assert "存在しない は候補にありません" in refused.content.decode()
    curator_client.post(page, asked | no_versions | {"document_types": ["test_plan", "basic_design"]})
    checklist.refresh_from_db()
    assert checklist.document_types == ["test_plan", "basic_design"]
    read = client_of(make_user("読者")).get(page).content.decode()
    assert name in read
    assert ontology in read
    assert "basic_design" not in read


def test_the_item_list_takes_the_same_number_of_queries_for_few_and_for_many(
    curator_client: Any, django_assert_max_num_queries: Any
) -> None:
    page = reverse("admin:review_checkitem_changelist")
    with CaptureQueriesContext(connection) as for_few:
        curator_client.get(page)
    CheckItem.objects.bulk_create(CheckItem(code=f"ZZ-{number}") for number in range(40))
    with django_assert_max_num_queries(len(for_few)):
        curator_client.get(page)


def test_what_was_stored_meanwhile_is_said_at_the_workbench_and_what_was_typed_stays(curator_client: Any) -> None:
    address = reverse("admin:review_workbench")
    typed = {"code": "X-55", "name_ja": "版の記載", "priority": "medium", "patterns": "必須: 第[0-9]+版"}
    stored = curator_client.post(address, typed)
    draft = CheckItemVersion.objects.get(item__code="X-55")
    assert stored["Location"] == f"{address}?draft={draft.pk}&documents=&checklist="
    page = curator_client.get(stored["Location"])
    seen = page.context["seen"]
    mine = {**typed, "seen": seen, "name_ja": "版の記載（甲）"}
    assert curator_client.post(f"{address}?draft={draft.pk}", mine).status_code == 302
    theirs = curator_client.post(f"{address}?draft={draft.pk}", {**mine, "name_ja": "版の記載（乙）"})
    assert theirs.status_code == 200
    assert "版の記載（乙）" in theirs.content.decode()
    draft.refresh_from_db()
    assert (draft.name_ja, draft.criteria) == (
        "版の記載（甲）",
        {"patterns": [{"pattern": "第[0-9]+版", "must_occur": True}]},
    )
    again = curator_client.post(address, typed)
    assert "X-55" in str(again.context["form"].errors)
    assert curator_client.get(f"{address}?draft=999999").status_code == 404


def test_a_draft_that_another_curator_does_not_change_is_published_by_them(
    curator_client: Any, second_client: Any
) -> None:
    code, address = "test-plan", reverse("admin:review_workbench")
    typed = {
        "code": "X-56",
        "name_ja": "版の記載",
        "priority": "medium",
        "patterns": "必須: 第[0-9]+版",
        "checklist": code,
    }
    curator_client.post(address, typed)
    draft = CheckItemVersion.objects.get(item__code="X-56")
    page = f"{address}?draft={draft.pk}&checklist={code}"
    publish = {"publish": "1"}
    assert 'name="publish"' not in curator_client.get(page).content.decode()
    opened = second_client.get(page)
    assert 'name="publish"' in opened.content.decode()
    form = {**typed, "seen": opened.context["seen"], "name_en": draft.name_en} | publish
    changed = second_client.post(page, {**form, "name_ja": "別の名称"})
    assert changed.status_code == 200
    assert "変更した人は公開できません" in changed.content.decode()
    assert second_client.post(page, form).status_code == 302
    draft.refresh_from_db()
    assert (draft.status, draft.name_ja, len(draft.writer_ids)) == (MasterStatus.APPROVED, "版の記載", 1)
    line = AuditEvent.objects.filter(action="MASTER_PUBLISH", resource__startswith="checklistversion").latest("pk")
    assert (line.details["written_by"], line.details["published_alone"]) == (draft.writer_ids, False)


def test_a_list_that_the_workbench_left_as_a_draft_takes_nothing_back(curator_client: Any, second_client: Any) -> None:
    code, address = "test-plan", reverse("admin:review_workbench")
    typed = {"code": "X-57", "name_ja": "版の記載", "priority": "medium", "patterns": "必須: 第[0-9]+版"}
    curator_client.post(address, {**typed, "checklist": code})
    item, checklist = CheckItemVersion.objects.get(item__code="X-57"), CheckList.objects.get(code=code)
    curator_client.post(reverse("admin:review_checklist_copy", args=[checklist.pk]))
    same = checklist.versions.latest("number")
    left = put_into_checklist(principal=hub_curator(), item=item, code=code)
    second_client.post(reverse("admin:review_checklistversion_approve", args=[same.pk]))
    assert put_in_force_since(left) == same
    page = f"{address}?draft={item.pk}&checklist={code}"
    form = {**typed, "checklist": code, "seen": second_client.get(page).context["seen"], "name_en": item.name_en}
    second_client.post(page, {**form, "publish": "1"})
    assert version_in_force(checklist) == left


def test_a_list_that_came_into_force_after_a_draft_was_begun_is_said_before_it_is_replaced(
    curator_client: Any, second_client: Any
) -> None:
    checklist = CheckList.objects.get(code="test-plan")
    for _time in range(2):
        curator_client.post(reverse("admin:review_checklist_copy", args=[checklist.pk]))
    later, earlier = checklist.versions.filter(status=MasterStatus.DRAFT).order_by("-number")
    approve = [reverse("admin:review_checklistversion_approve", args=[one.pk]) for one in (earlier, later)]
    page = reverse("admin:review_checklistversion_change", args=[later.pk])
    said = f"{earlier} の適用が始まりました"
    assert said not in second_client.get(page).content.decode()
    assert second_client.post(approve[0]).status_code == 302
    assert said in second_client.get(page).content.decode()
    gate = reverse("admin:evaluation_gate") + f"?candidate=checklist:test-plan@{later.number}"
    assert said in second_client.get(gate).content.decode()
    asked = second_client.post(approve[1])
    assert said in asked.content.decode()
    second_client.post(approve[1], {"confirmed": "1"})  # of a page that named nothing
    assert version_in_force(checklist) == earlier
    assert second_client.post(approve[1], yes_to(asked)).status_code == 302
    assert version_in_force(checklist) == later


def test_the_gate_asks_first_too_and_names_what_is_in_force_in_words(curator_client: Any, second_client: Any) -> None:
    checklist = CheckList.objects.get(code="test-plan")
    for _time in range(2):
        curator_client.post(reverse("admin:review_checklist_copy", args=[checklist.pk]))
    later, earlier = checklist.versions.filter(status=MasterStatus.DRAFT).order_by("-number")
    publish = reverse("admin:evaluation_gate_publish")
    done = second_client.post(publish, {"candidate": f"checklist:test-plan@{earlier.number}"}, follow=True)
    assert [str(one) for one in done.context["messages"]] == [f"{checklist} v{earlier.number} が有効になりました。"]
    asked = second_client.post(publish, {"candidate": f"checklist:test-plan@{later.number}"})
    assert f"{earlier} の適用が始まりました" in asked.content.decode()
    assert version_in_force(checklist) == earlier
    assert second_client.post(publish, yes_to(asked)).status_code == 302
    assert version_in_force(checklist) == later


def test_who_wrote_a_version_is_told_who_may_approve_it_instead_of_a_button(
    curator_client: Any, second_client: Any, approved: CheckItemVersion
) -> None:
    User.objects.filter(username="承認").update(last_name="承認", first_name="太郎")
    checklist = CheckList.objects.get(code="test-plan")
    curator_client.post(reverse("admin:review_checklist_copy", args=[checklist.pk]))
    curator_client.post(reverse(ITEM_VERSION_ADD), as_form(approved))
    for kind, draft in (
        ("checklistversion", checklist.versions.latest("number")),
        ("checkitemversion", CheckItemVersion.objects.latest("pk")),
    ):
        page = reverse(f"admin:review_{kind}_change", args=[draft.pk])
        approve = f'action="{reverse(f"admin:review_{kind}_approve", args=[draft.pk])}"'
        own, others = (client.get(page).content.decode() for client in (curator_client, second_client))
        assert (approve in own, approve in others) == (False, True)
        assert ("公開できる人: 承認 太郎" in own, "公開できる人" in others) == (True, False)


def test_the_page_before_a_publication_names_the_list_and_offers_nothing_that_is_refused(
    curator_client: Any, second_client: Any
) -> None:
    checklist = CheckList.objects.get(code="test-plan")
    curator_client.post(reverse("admin:review_checklist_copy", args=[checklist.pk]))
    draft = checklist.versions.latest("number")
    address = reverse("admin:evaluation_gate") + f"?candidate=checklist:test-plan@{draft.number}"
    own, others = (client.get(address).content.decode() for client in (curator_client, second_client))
    publish = reverse("admin:evaluation_gate_publish")
    assert (publish in own, publish in others) == (False, True)
    assert f"{checklist.name_ja} v{draft.number} を公開する前に" in own
    assert "ほかの人が公開する必要があります" in own


def test_places_are_shown_and_typed_from_one(curator_client: Any) -> None:
    checklist = CheckList.objects.get(code="test-plan")
    curator_client.post(reverse("admin:review_checklist_copy", args=[checklist.pk]))
    draft = checklist.versions.latest("number")
    page = curator_client.get(reverse("admin:review_checklistversion_change", args=[draft.pk]))
    rows = page.context["inline_admin_formsets"][0].formset.initial_forms
    assert [row["position"].value() for row in rows] == list(range(1, draft.entries.count() + 1))
    field = rows[0].fields["position"]
    assert [field.clean(typed) for typed in ("1", "3", "0")] == [0, 2, 0]
    assert not field.has_changed(rows[0].instance.position, "1")
    published = version_in_force(checklist)
    assert published is not None
    address = reverse("admin:review_checklistversion_change", args=[published.pk])
    table = curator_client.get(address).context["inline_admin_formsets"][0]
    read = [[field.contents() for line in row for field in line] for form in table for row in form]
    assert [cells[0] for cells in read] == [str(place) for place in range(1, published.entries.count() + 1)]


def test_the_page_of_a_version_takes_the_same_queries_however_many_entries_it_has(
    curator_client: Any, django_assert_max_num_queries: Any
) -> None:
    checklist = CheckList.objects.get(code="basic-design")
    curator_client.post(reverse("admin:review_checklist_copy", args=[checklist.pk]))
    for version in (version_in_force(checklist), checklist.versions.latest("number")):
        assert version is not None
        page = reverse("admin:review_checklistversion_change", args=[version.pk])
        curator_client.get(page)
        with django_assert_max_num_queries(20):
            curator_client.get(page)


def test_rows_that_take_each_others_items_are_refused_at_their_field(curator_client: Any) -> None:
    published = CheckListVersion.objects.filter(status=MasterStatus.APPROVED).earliest("pk")
    curator_client.post(reverse("admin:review_checklist_copy", args=[published.checklist_id]))
    draft = CheckListVersion.objects.latest("pk")
    stored = list(draft.entries.order_by("pk").select_related("item_version"))[:2]
    first, second = (entry.item_version for entry in stored)
    page = reverse("admin:review_checklistversion_change", args=[draft.pk])
    exchanged = entries(second, first, **{"entries-INITIAL_FORMS": 2})
    exchanged |= {f"entries-{index}-id": entry.pk for index, entry in enumerate(stored)}
    for form in (exchanged, entries(first)):
        answer = curator_client.post(page, {"checklist": draft.checklist_id, "number": draft.number} | form)
        assert answer.status_code == 200
        assert list(answer.context["inline_admin_formsets"][0].formset.errors[0]) == ["item_version"]
    assert [entry.item_version for entry in draft.entries.filter(pk__in=[one.pk for one in stored]).order_by("pk")] == [
        first,
        second,
    ]
