"""Two people at one form of the admin: the second is told who saved what, and nothing of either is lost."""

from __future__ import annotations

import re
from datetime import date, datetime
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from knowledge.models import DocumentType
from review.models import CheckItemVersion, CheckListVersion
from tests.hub.admin.support import client_of, curator_client, make_user

pytestmark = pytest.mark.django_db


def form_of(client: Client, address: str) -> dict[str, str]:
    """What a browser would send of a form: its hidden state, its lines, its texts and what is chosen."""
    page = unescape(client.get(address).content.decode())
    values = dict(re.findall(r'<input type="(?:text|hidden)"[^>]*? name="([\w-]+)"[^>]*? value="([^"]*)"', page))
    values |= dict(re.findall(r'<input type="(?:text|hidden)" name="([\w-]+)" value="([^"]*)"', page))
    return values


def test_the_second_of_two_is_told_and_saves_knowingly() -> None:
    kind = DocumentType.objects.create(code="manual", name_ja="手順書", name_en="Manual")
    address = reverse("admin:knowledge_documenttype_change", args=[kind.pk])
    first, second = curator_client(), client_of(make_user("佐藤", is_superuser=True))
    typed = form_of(first, address)
    assert typed["hub_seen"]
    assert second.post(address, {**form_of(second, address), "name_ja": "運用手順書"}).status_code == 302
    answer = first.post(address, {**typed, "name_ja": "操作手順書"})
    page = unescape(answer.content.decode())
    assert answer.status_code == 200
    assert "佐藤 さんが保存しました" in page
    assert "運用手順書" in page
    assert 'value="操作手順書"' in page
    kind.refresh_from_db()
    assert kind.name_ja == "運用手順書"
    seen = re.search(r'name="hub_seen" value="(\w+)"', page)
    assert seen
    assert first.post(address, {**typed, "name_ja": "運用・操作手順書", "hub_seen": seen[1]}).status_code == 302
    kind.refresh_from_db()
    assert kind.name_ja == "運用・操作手順書"


def test_a_form_whose_second_is_no_number_is_told_all_the_same() -> None:
    kind = DocumentType.objects.create(code="manual", name_ja="手順書", name_en="Manual")
    address = reverse("admin:knowledge_documenttype_change", args=[kind.pk])
    client = curator_client()
    typed = form_of(client, address)
    DocumentType.objects.update(name_ja="運用手順書")
    for second in ("x", "9" * 5000):
        seen = typed["hub_seen"].partition("t")[0] + "t" + second
        answer = client.post(address, {**typed, "name_ja": "操作手順書", "hub_seen": seen})
        assert "運用手順書" in unescape(answer.content.decode())


def test_a_form_that_nobody_overtook_is_saved() -> None:
    kind = DocumentType.objects.create(code="manual", name_ja="手順書", name_en="Manual")
    address = reverse("admin:knowledge_documenttype_change", args=[kind.pk])
    client = curator_client()
    assert client.post(address, {**form_of(client, address), "name_ja": "操作手順書"}).status_code == 302
    assert client.post(address, {**form_of(client, address), "name_ja": "操作手順書 2"}).status_code == 302


def test_drafts_of_what_is_curated_carry_what_was_seen() -> None:
    draft = CheckItemVersion.objects.order_by("pk").first()
    assert draft is not None
    CheckItemVersion.objects.filter(pk=draft.pk).update(status="draft")
    page = curator_client().get(reverse("admin:review_checkitemversion_change", args=[draft.pk])).content.decode()
    assert 'name="hub_seen"' in page
    assert "warn-unsaved-form" in page


def chosen(context: Any) -> dict[str, Any]:
    """What a browser would send of a page whose form has tables, as the page shows it."""
    forms = [context["adminform"].form]
    for table in context["inline_admin_formsets"]:
        forms += [table.formset.management_form, *table.formset.initial_forms]
    values = {"hub_seen": context["hub_seen"]}
    for form in forms:
        for field in form:
            value = field.value()
            if value is not None and value is not False:
                values |= dict(_sent(field.html_name, value))
    return values


def _sent(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, datetime | date):
        return [(f"{name}_0", value.strftime("%Y-%m-%d")), (name, value.strftime("%Y-%m-%d"))]
    return [(name, value)]


def test_rows_of_a_table_that_somebody_else_changed_meanwhile_are_told_and_not_overwritten() -> None:
    draft = CheckListVersion.objects.order_by("pk").first()
    assert draft is not None
    CheckListVersion.objects.filter(pk=draft.pk).update(status="draft")
    first_entry, second_entry, *_rest = draft.entries.order_by("pk")
    address = reverse("admin:review_checklistversion_change", args=[draft.pk])
    first, second = curator_client(), client_of(make_user("佐藤", is_superuser=True))
    typed = chosen(first.get(address).context)
    moved = chosen(second.get(address).context)
    (place,) = [name.removesuffix("-id") for name, value in moved.items() if value == first_entry.pk and "-id" in name]
    assert second.post(address, {**moved, f"{place}-position": 991}).status_code == 302
    answer = first.post(address, {**typed, f"{place}-position": 992})
    page = unescape(answer.content.decode())
    assert answer.status_code == 200
    assert "佐藤 さんが保存しました" in page
    assert str(second_entry) in page
    first_entry.refresh_from_db()
    assert first_entry.position == draft.entries.count() - 1
    again = {**typed, f"{place}-position": 0, "hub_seen": answer.context["hub_seen"]}
    assert first.post(address, again).status_code == 302
    first_entry.refresh_from_db()
    assert first_entry.position == 0
