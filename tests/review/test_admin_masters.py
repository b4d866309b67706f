from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Role
from knowledge.models import Collection
from review.models import CheckItem, CheckItemVersion, CheckList, CheckListVersion, MasterStatus
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = pytest.mark.django_db
ITEM_VERSION_ADD = "admin:review_checkitemversion_add"
ITEM_VERSION = "admin:review_checkitemversion_change"


@pytest.fixture
def curator_client() -> Any:
    curator = make_user("担当")
    grant(curator, Role.CURATOR, Collection.objects.get(slug="default"))
    return client_of(curator)


@pytest.fixture
def approved() -> CheckItemVersion:
    return CheckItemVersion.objects.filter(status=MasterStatus.APPROVED).earliest("pk")


def as_form(version: CheckItemVersion, **changed: object) -> dict[str, object]:
    names = ("name_ja", "name_en", "description_ja", "description_en", "guideline_reference", "check_type", "strategy")
    return {
        **{name: getattr(version, name) for name in (*names, "priority")},
        "item": version.item_id,
        "status": MasterStatus.DRAFT,
        "criteria": json.dumps(version.criteria),
        **changed,
    }


def test_an_approved_version_is_read_only_even_for_superusers(approved: CheckItemVersion) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    page = reverse(ITEM_VERSION, args=[approved.pk])
    assert client.get(page).status_code == 200
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


def test_approving_a_draft_stamps_it_and_is_written_down(curator_client: Any, approved: CheckItemVersion) -> None:
    curator_client.post(reverse(ITEM_VERSION_ADD), as_form(approved))
    draft = CheckItemVersion.objects.latest("pk")
    page = reverse(ITEM_VERSION, args=[draft.pk])
    curator_client.post(page, as_form(draft, status=MasterStatus.APPROVED))
    draft.refresh_from_db()
    assert draft.status == MasterStatus.APPROVED
    assert draft.approved_at is not None
    assert AuditEvent.objects.filter(action="MASTER_PUBLISH", resource__endswith=str(draft)).exists()
    assert curator_client.post(page, as_form(draft, name_ja="改ざん")).status_code == 403


@pytest.mark.parametrize("criteria", ['{"rules": [{"rule_id": "no.such_rule"}]}', '{"rules": "x"}', "[1]"])
def test_criteria_without_known_rules_are_refused(
    curator_client: Any, approved: CheckItemVersion, criteria: str
) -> None:
    curator_client.post(reverse(ITEM_VERSION_ADD), as_form(approved, criteria=criteria))
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


def test_a_check_list_version_is_approved_with_approved_items_only(
    curator_client: Any, approved: CheckItemVersion
) -> None:
    checklist = CheckList.objects.earliest("pk")
    page = reverse("admin:review_checklistversion_add")
    asked = {"checklist": checklist.pk, "status": MasterStatus.APPROVED}
    before = CheckListVersion.objects.count()
    assert "項目のない版は承認できません" in curator_client.post(page, asked | entries()).content.decode()
    curator_client.post(reverse(ITEM_VERSION_ADD), as_form(approved))
    draft = CheckItemVersion.objects.latest("pk")
    refused = curator_client.post(page, asked | entries(draft)).content.decode()
    assert f"先に次の項目の版を承認してください: {draft}" in refused
    assert CheckListVersion.objects.count() == before
    assert curator_client.post(page, asked | entries(approved)).status_code == 302
    made = CheckListVersion.objects.latest("pk")
    assert (made.number, made.entries.count()) == (before + 1 if before == 1 else made.number, 1)
    assert made.approved_at is not None


def test_a_check_list_names_known_document_types_only(curator_client: Any) -> None:
    checklist = CheckList.objects.earliest("pk")
    page = reverse("admin:review_checklist_change", args=[checklist.pk])
    asked = {"name_ja": "一覧", "name_en": "List", "ontology_domain": "", "document_types": "basic_design\n存在しない"}
    no_versions = {"versions-TOTAL_FORMS": 0, "versions-INITIAL_FORMS": 0}
    assert "不明な文書種別です: 存在しない" in curator_client.post(page, asked | no_versions).content.decode()
    curator_client.post(page, asked | no_versions | {"document_types": "test_plan\nbasic_design"})
    checklist.refresh_from_db()
    assert checklist.document_types == ["test_plan", "basic_design"]


def test_the_item_list_takes_the_same_number_of_queries_for_few_and_for_many(
    curator_client: Any, django_assert_max_num_queries: Any
) -> None:
    page = reverse("admin:review_checkitem_changelist")
    with CaptureQueriesContext(connection) as for_few:
        curator_client.get(page)
    CheckItem.objects.bulk_create(CheckItem(code=f"ZZ-{number}") for number in range(40))
    with django_assert_max_num_queries(len(for_few)):
        curator_client.get(page)
