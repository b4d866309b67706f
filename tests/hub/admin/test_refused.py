"""What a service refuses of a form of the admin comes back on that form, and nothing that was typed is lost."""

from __future__ import annotations

from html import unescape

import pytest
from django.urls import reverse

from hub.access.models import HubRoleGrant
from hub.access.principals import HubRole, Role
from knowledge.models import Collection, CollectionGrant, Source
from tests.factories import make_holder
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = pytest.mark.django_db


def test_a_refusal_stands_at_its_field_with_all_that_was_typed() -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    collection = Collection.objects.get(slug="default")
    typed = {"name": "共有フォルダー", "kind": "folder", "location": "共有/文書"}
    answer = client.post(
        reverse("admin:knowledge_source_add"), {**typed, "collection": collection.pk, "scan_every_minutes": "45"}
    )
    form = answer.context["adminform"].form
    assert list(form.errors) == ["location"]
    page = unescape(answer.content.decode())
    for value in ("共有フォルダー", typed["location"], "45"):
        assert f'value="{value}"' in page
    assert not Source.objects.exists()


def test_rows_below_a_form_come_back_too_and_what_was_saved_before_the_refusal_goes_back() -> None:
    collection = Collection.objects.get(slug="default")
    last, other = make_user("鈴木"), make_user("田中")
    grant(last, Role.ADMINISTRATOR, collection)
    row = CollectionGrant.objects.get(user=last)
    grants = {"grants-TOTAL_FORMS": 2, "grants-INITIAL_FORMS": 1}
    kept = {"grants-0-id": row.pk, "grants-0-collection": collection.pk, "grants-0-user": last.username}
    kept |= {"grants-0-role": Role.ADMINISTRATOR, "grants-0-DELETE": "on"}
    new = {"grants-1-user": other.username, "grants-1-role": Role.READER, "grants-1-reason": "監査のため"}
    typed = {"name": "新しい名称", "description": "長い説明", "classification": 2, "retention_days": "90"}
    answer = client_of(last).post(
        reverse("admin:knowledge_collection_change", args=[collection.pk]), {**typed, **grants, **kept, **new}
    )
    assert answer.status_code == 200
    assert len(answer.context["adminform"].form.non_field_errors()) == 1
    page = unescape(answer.content.decode())
    for value in ("新しい名称", "長い説明", "監査のため", other.username):
        assert value in page
    collection.refresh_from_db()
    assert collection.name != "新しい名称"
    assert list(CollectionGrant.objects.values_list("user__username", flat=True)) == ["鈴木"]


def test_what_is_given_to_oneself_is_refused_on_the_form() -> None:
    manager = make_holder(make_user("人事"), HubRole.USER_ADMINISTRATOR)
    asked = {"user": manager.pk, "group": "", "role": HubRole.OPERATOR, "reason": "夜間の当番"}
    answer = client_of(manager).post(reverse("admin:access_hubrolegrant_add"), asked)
    assert answer.context["adminform"].form.non_field_errors()
    assert "夜間の当番" in answer.content.decode()
    assert list(HubRoleGrant.objects.values_list("role", flat=True)) == [HubRole.USER_ADMINISTRATOR]
