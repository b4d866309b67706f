"""Legal hold, the preview of retention and receipts in the admin."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from knowledge.documents import deletion
from knowledge.documents.deletion import delete_document
from knowledge.models import Collection, DeletionReceipt, Document
from tests.hub.admin.support import client_of, grant, make_user
from tests.knowledge.search.shelf import Library

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
PAGE = "admin:hub_retention"


def add(path: str, *, slug: str = "default", days: int = 0) -> Document:
    library = Library(slug=slug)
    library.add(path, [f"{path}の本文。"])
    Document.objects.filter(pk=library.made[path].pk).update(updated_at=Now() - timedelta(days=days))
    return Document.objects.get(pk=library.made[path].pk)


def staff(name: str, role: Role | None = None, slug: str = "default") -> Client:
    user = make_user(name, is_superuser=role is None)
    if role is not None:
        grant(user, role, Collection.objects.get(slug=slug))
    return client_of(user, language="en")


def hold(client: Client, document: Document, **asked: str) -> str:
    address = reverse("admin:knowledge_document_hold", args=[document.pk])
    return client.post(address, asked, follow=True).content.decode()


def test_a_hold_is_placed_with_a_reason_shown_and_lifted() -> None:
    document = add("契約書.md")
    client = staff("佐藤")
    shown = hold(client, document, reason="訴訟 令和7年(ワ)第1号")
    assert "訴訟 令和7年(ワ)第1号" in shown
    assert reverse("admin:knowledge_document_delete", args=[document.pk]) not in shown
    asked = {"pk": document.pk, "confirmed": "1"}
    refused = client.post(reverse("admin:knowledge_document_delete_many"), asked, follow=True).content.decode()
    assert "under a legal hold" in refused
    assert Document.objects.filter(pk=document.pk).exists()
    shown = hold(client, document, lift="1")
    assert reverse("admin:knowledge_document_delete", args=[document.pk]) in shown
    assert list(
        AuditEvent.objects.filter(action__startswith="LEGAL").values_list("action", flat=True).order_by("pk")
    ) == [
        "LEGAL_HOLD_SET",
        "LEGAL_HOLD_LIFT",
    ]


def test_a_hold_needs_a_reason_of_bearable_length() -> None:
    document = add("契約書.md")
    client = staff("佐藤")
    for reason in ("", "   ", "長" * 301):
        assert "legal hold" in hold(client, document, reason=reason).lower()
        document.refresh_from_db()
        assert document.legal_hold == ""


def test_only_curators_place_holds_and_a_hidden_document_answers_as_an_unknown_one() -> None:
    document, hidden = add("契約書.md"), add("秘密.md", slug="himitsu")
    reader = staff("高橋", Role.READER)
    address = reverse("admin:knowledge_document_change", args=[document.pk])
    assert "knowledge_document_hold" not in reader.get(address).content.decode()
    assert "curator" in hold(reader, document, reason="隠したい")
    document.refresh_from_db()
    assert document.legal_hold == ""
    for pk in (hidden.pk, 0):
        address = reverse("admin:knowledge_document_hold", args=[pk])
        assert reader.post(address, {"reason": "x"}).status_code == 404


def test_the_preview_names_what_goes_and_what_a_hold_keeps_and_retention_does_just_that() -> None:
    Collection.objects.filter(slug="default").update(retention_days=30)
    going, kept, young = add("古い.md", days=31), add("係争中.md", days=400), add("新しい.md", days=29)
    client = staff("佐藤")
    hold(client, kept, reason="係争")
    context = client.get(reverse(PAGE)).context_data
    assert [(row["document"], bool(row["document"].legal_hold)) for row in context["due"]] == [
        (kept, True),
        (going, False),
    ]
    assert [(one.days, one.due, one.held) for one, _may in context["previews"] if one.collection.slug == "default"] == [
        (30, 1, 1)
    ]
    assert deletion.enforce_retention().deleted == 1
    assert set(Document.objects.all()) == {kept, young}


def test_the_preview_shows_nothing_of_what_one_may_not_see() -> None:
    Library(slug="himitsu")
    add("秘密.md", slug="himitsu", days=400)
    Collection.objects.update(retention_days=30)
    context = staff("高橋", Role.READER).get(reverse(PAGE)).context_data
    assert context["due"] == []
    assert [(one.collection.slug, may) for one, may in context["previews"]] == [("default", False)]


def test_the_preview_asks_as_many_queries_however_much_is_due() -> None:
    Collection.objects.update(retention_days=30)
    client = staff("佐藤")

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(reverse(PAGE))
        return len(captured)

    add("一.md", days=31)
    queries()
    few = queries()
    for number in range(5):
        add(f"古い{number}.md", days=31 + number, slug=f"c{number}")
        Collection.objects.update(retention_days=30)
    assert queries() == few <= 16


def test_a_deletion_leads_to_its_receipt_which_names_all_that_went() -> None:
    document = add("契約書.md")
    curator = staff("佐藤", Role.CURATOR)
    asked = {"pk": document.pk, "confirmed": "1"}
    shown = curator.post(reverse("admin:knowledge_document_delete_many"), asked, follow=True).content.decode()
    receipt = DeletionReceipt.objects.get()
    address = reverse("admin:knowledge_deletionreceipt_change", args=[receipt.pk])
    assert f'<a class="hub-link" href="{address}">{receipt.public_id}</a>' in shown
    page = curator.get(address).content.decode()
    assert document.public_id in page
    assert "chunks: 1" in page


def test_curators_see_the_receipts_of_their_collections_only() -> None:
    hidden = add("秘密.md", slug="himitsu")
    receipt = delete_document(principal=local_operator(), document_id=hidden.public_id)
    address = reverse("admin:knowledge_deletionreceipt_changelist")
    curator: Any = staff("佐藤", Role.CURATOR)
    assert receipt.public_id not in curator.get(address).content.decode()
    assert receipt.public_id in staff("管理").get(address).content.decode()
    assert staff("高橋", Role.READER).get(address).status_code == 403
