from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Role
from knowledge.models import Collection, CollectionGrant
from knowledge.types.chunks import ChunkOptions
from tests.hub.admin.support import add_document, client_of, grant, make_user

pytestmark = pytest.mark.django_db
CHANGE = "admin:knowledge_collection_change"
NO_GRANTS = {"grants-TOTAL_FORMS": 0, "grants-INITIAL_FORMS": 0}


def fields(collection: Collection, **changed: object) -> dict[str, object]:
    return {
        "name": collection.name,
        "description": collection.description,
        "classification": collection.classification,
        "retention_days": "",
        **changed,
    }


def test_a_superuser_grants_a_role_and_it_is_written_down() -> None:
    collection = Collection.objects.get(slug="default")
    other = make_user("鈴木")
    asked = fields(collection) | {
        "grants-TOTAL_FORMS": 1,
        "grants-INITIAL_FORMS": 0,
        "grants-0-user": other.username,
        "grants-0-role": Role.CURATOR,
    }
    client = client_of(make_user("佐藤", is_superuser=True))
    assert client.post(reverse(CHANGE, args=[collection.pk]), asked).status_code == 302
    assert CollectionGrant.objects.get().user == other
    event = AuditEvent.objects.get(action="CONFIG_CHANGE", resource="collection:default", details__has_key="granted")
    assert event.details["granted"] == "鈴木: キュレーター"


def test_each_field_of_the_grants_has_its_name_for_screen_readers() -> None:
    grant(make_user("鈴木"), Role.READER, collection := Collection.objects.get(slug="default"))
    page = client_of(make_user("佐藤", is_superuser=True)).get(reverse(CHANGE, args=[collection.pk])).content.decode()
    for name in ("user", "group", "role", "reason"):
        field = re.search(rf'<(?:input|select|textarea)[^>]* name="grants-0-{name}"[^>]*>', page)
        assert field is not None
        assert re.search(r' aria-label="[^"]+"', field[0]), field[0]


def changed_grants(rows: list[CollectionGrant], *more: Mapping[str, object], **changes: object) -> dict[str, object]:
    """What the page sends of the grants that are there, new ones behind them; ``changes`` are of the first."""
    total = {"grants-TOTAL_FORMS": len(rows) + len(more), "grants-INITIAL_FORMS": len(rows)}
    sent: dict[str, object] = {**total}
    forms: list[dict[str, object]] = [
        {"id": row.pk, "user": str(row.user or ""), "group": str(row.group or ""), "role": row.role} for row in rows
    ]
    forms[:1] = [{**forms[0], **changes}]
    for number, form in enumerate([*forms, *more]):
        sent |= {f"grants-{number}-{name}": value for name, value in form.items()}
    return sent


def test_an_administrator_of_a_collection_gives_changes_and_takes_its_roles() -> None:
    collection, other = Collection.objects.get(slug="default"), make_user("鈴木")
    administrator = make_user("管理者")
    grant(administrator, Role.ADMINISTRATOR, collection)
    client, page = client_of(administrator), reverse(CHANGE, args=[collection.pk])
    rows = list(collection.grants.all())
    more = {"user": other.username, "group": "", "role": Role.READER}
    assert client.post(page, fields(collection) | changed_grants(rows, more)).status_code == 302
    assert set(collection.grants.values_list("user__username", "role")) == {
        ("管理者", "administrator"),
        ("鈴木", "reader"),
    }
    rows = [collection.grants.get(user=other), collection.grants.get(user=administrator)]
    client.post(page, fields(collection) | changed_grants(rows, role=Role.CURATOR))
    assert collection.grants.get(user=other).role == Role.CURATOR
    rows = [collection.grants.get(user=other), collection.grants.get(user=administrator)]
    client.post(page, fields(collection) | changed_grants(rows, DELETE="on"))
    assert not collection.grants.filter(user=other).exists()


def test_a_name_that_nobody_has_is_refused_and_no_page_lists_all_people() -> None:
    collection = Collection.objects.get(slug="default")
    administrator = make_user("管理者")
    make_user("秘密の人")
    grant(administrator, Role.ADMINISTRATOR, collection)
    client, page = client_of(administrator), reverse(CHANGE, args=[collection.pk])
    assert "秘密の人" not in client.get(page).content.decode()
    more = {"user": "だれか", "group": "", "role": Role.READER}
    shown = client.post(page, fields(collection) | changed_grants(list(collection.grants.all()), more))
    assert shown.status_code == 200
    assert collection.grants.count() == 1


def test_the_last_administrator_of_a_collection_stays_one_unless_a_superuser_says_otherwise() -> None:
    collection = Collection.objects.get(slug="default")
    administrator = make_user("管理者")
    grant(administrator, Role.ADMINISTRATOR, collection)
    page = reverse(CHANGE, args=[collection.pk])
    for changes in ({"DELETE": "on"}, {"role": Role.READER}):
        asked = fields(collection) | changed_grants(list(collection.grants.all()), **changes)
        client_of(administrator).post(page, asked)
        assert list(collection.grants.values_list("role", flat=True)) == ["administrator"]
    client_of(make_user("佐藤", is_superuser=True)).post(page, asked)
    assert list(collection.grants.values_list("role", flat=True)) == ["reader"]


def test_a_grant_for_both_a_user_and_a_group_is_refused_in_words() -> None:
    collection = Collection.objects.get(slug="default")
    asked = fields(collection) | {
        "grants-TOTAL_FORMS": 1,
        "grants-INITIAL_FORMS": 0,
        "grants-0-role": Role.CURATOR,
        "grants-0-user": "",
        "grants-0-group": "",
    }
    client = client_of(make_user("佐藤", is_superuser=True))
    asked["grants-0-role"] = Role.AUDITOR
    shown = client.post(reverse(CHANGE, args=[collection.pk]), asked).content.decode()
    assert "ユーザーかグループのどちらか一方" in shown


def test_a_curator_renames_but_grants_nothing() -> None:
    collection = Collection.objects.get(slug="default")
    curator = make_user("担当")
    grant(curator, Role.CURATOR, collection)
    client = client_of(curator)
    asked = fields(collection, name="新しい名称") | {
        "grants-TOTAL_FORMS": 1,
        "grants-INITIAL_FORMS": 0,
        "grants-0-user": curator.pk,
        "grants-0-role": Role.ADMINISTRATOR,
    }
    assert client.post(reverse(CHANGE, args=[collection.pk]), asked).status_code == 302
    collection.refresh_from_db()
    assert collection.name == "新しい名称"
    assert list(CollectionGrant.objects.values_list("role", flat=True)) == [Role.CURATOR]
    assert AuditEvent.objects.filter(resource="collection:default", details__changed=["name"]).exists()


def test_a_reader_changes_nothing_and_sees_only_their_collections() -> None:
    collection = Collection.objects.get(slug="default")
    Collection.objects.create(slug="himitsu", name="秘密の箱")
    reader = make_user("高橋")
    grant(reader, Role.READER, collection)
    client = client_of(reader)
    shown = client.get(reverse("admin:knowledge_collection_changelist")).content.decode()
    assert collection.name in shown
    assert "秘密の箱" not in shown
    assert client.post(reverse(CHANGE, args=[collection.pk]), fields(collection) | NO_GRANTS).status_code == 403


def test_a_new_collection_is_made_by_the_service() -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    asked = {"slug": "chotatsu", "name": "調達", "description": "", "classification": 2, "retention_days": ""}
    client.post(reverse("admin:knowledge_collection_add"), asked | NO_GRANTS)
    assert Collection.objects.get(slug="chotatsu").name == "調達"
    assert AuditEvent.objects.filter(action="COLLECTION_CREATE", resource="collection:chotatsu").exists()


def test_a_collection_with_documents_is_not_deleted(tmp_path: Path) -> None:
    document = add_document(tmp_path, work=False)
    client = client_of(make_user("佐藤", is_superuser=True))
    page = reverse("admin:knowledge_collection_delete", args=[document.collection_id])
    shown = client.post(page, {"post": "yes"}, follow=True).content.decode()
    assert "まだ文書があります" in shown
    assert Collection.objects.filter(slug="default").exists()


def test_an_empty_collection_is_deleted() -> None:
    row = Collection.objects.create(slug="kara", name="空")
    client = client_of(make_user("佐藤", is_superuser=True))
    client.post(reverse("admin:knowledge_collection_delete", args=[row.pk]), {"post": "yes"})
    assert not Collection.objects.filter(slug="kara").exists()


def test_the_page_says_how_documents_are_cut_and_how_many_are_cut_otherwise(tmp_path: Path) -> None:
    collection = Collection.objects.get(slug="default")
    document = add_document(tmp_path)
    client = client_of(make_user("佐藤", is_superuser=True))
    asked = fields(collection, chunk_strategy="section", chunk_size=128, chunk_overlap=16) | NO_GRANTS
    answer = client.post(reverse(CHANGE, args=[collection.pk]), asked, follow=True)
    assert "1 件" in answer.content.decode()
    collection.refresh_from_db()
    assert str(collection.policy.options()) == str(ChunkOptions(size=128, overlap=16))
    assert 'value="128"' in client.get(reverse(CHANGE, args=[collection.pk])).content.decode()
    action = {"action": "cut_anew", "_selected_action": [collection.pk]}
    page = client.post(reverse("admin:knowledge_collection_changelist"), action)
    assert "default: 1 件の文書" in page.content.decode()
    document.refresh_from_db()
    assert document.latest_version.policy_id != collection.policy_id
    client.post(reverse("admin:knowledge_collection_changelist"), dict(page.context["posted"]) | {"confirmed": "1"})
    document.refresh_from_db()
    assert document.latest_version.policy_id == collection.policy_id
    cleared = fields(collection, chunk_strategy="", chunk_size="", chunk_overlap="") | NO_GRANTS
    client.post(reverse(CHANGE, args=[collection.pk]), cleared)
    collection.refresh_from_db()
    assert collection.policy is None
