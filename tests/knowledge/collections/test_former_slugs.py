"""The slug of a deleted collection is never used again, and nothing that names it is read by later owners."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import create_token, principal_for_user
from hub.audit.events import visible_events
from knowledge.collections import create_collection, delete_collection
from knowledge.documents.deletion import delete_document
from knowledge.models import Collection, CollectionGrant, DeletionReceipt
from tests.factories import new_user, principal_with, upload_text
from tests.hub.admin.support import client_of, make_user

pytestmark = pytest.mark.django_db


def rest(user: User) -> Client:
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


def asked(client: Client, slug: str) -> tuple[int, bytes]:
    answer = client.post("/api/v1/collections", {"slug": slug, "name": "新"}, content_type="application/json")
    problem = answer.json()
    return answer.status_code, repr({k: v for k, v in problem.items() if k not in {"request_id", "instance"}}).encode()


@pytest.fixture
def deleted(tmp_path) -> Collection:
    """A collection of alice, deleted with a document that was in it."""
    collection = create_collection(principal=local_operator(), slug="kaihatsu", name="開発")
    alice = principal_with(Role.ADMINISTRATOR, collection)
    document = upload_text(alice, tmp_path, "# 本文\n", collection="kaihatsu").document
    delete_document(principal=alice, document_id=document.public_id)
    delete_collection(principal=alice, slug="kaihatsu")
    return collection


def test_a_deleted_slug_is_refused_in_the_words_of_one_that_is_taken_and_hidden(deleted: Collection) -> None:
    create_collection(principal=local_operator(), slug="himitsu-", name="秘")
    client = rest(new_user(is_superuser=True, username="bob"))
    status, former = asked(client, "kaihatsu")
    assert status == 409
    assert (status, former.replace(b"kaihatsu", b"himitsu-")) == asked(client, "himitsu-")
    assert not Collection.objects.filter(slug="kaihatsu").exists()


def test_the_admin_form_refuses_a_deleted_slug_like_a_taken_one(deleted: Collection) -> None:
    create_collection(principal=local_operator(), slug="himitsu-", name="秘")
    client = client_of(make_user("佐藤", is_superuser=True))

    def page(slug: str) -> list[str]:
        fields = {"slug": slug, "name": "新", "classification": 2, "grants-TOTAL_FORMS": 0, "grants-INITIAL_FORMS": 0}
        answer = client.post(reverse("admin:knowledge_collection_add"), fields)
        return [str(error).replace(slug, "…") for errors in answer.context["errors"] for error in errors]

    refused = page("kaihatsu")
    assert refused == page("himitsu-")
    assert len(refused) == 1
    assert not Collection.objects.filter(slug="kaihatsu").exists()


def again(slug: str) -> tuple[Collection, User]:
    """A collection that got an old slug before slugs were kept, and its administrator."""
    collection = Collection.objects.create(slug=slug, name="後", created_at=timezone.now() + timedelta(seconds=1))
    bob = make_user("bob")
    CollectionGrant.objects.create(collection=collection, user=bob, role=Role.ADMINISTRATOR)
    return collection, bob


def test_a_later_owner_of_a_slug_reads_no_line_of_the_former_one(deleted: Collection) -> None:
    collection, bob = again("kaihatsu")
    later = collection.created_at + timedelta(seconds=1)
    AuditEvent.objects.create(action="CONFIG_CHANGE", resource="collection:kaihatsu", principal="bob", at=later)
    seen = visible_events(principal_for_user(bob)).filter(resource="collection:kaihatsu")
    assert list(seen.values_list("action", flat=True)) == ["CONFIG_CHANGE"]
    lines = rest(bob).get("/api/v1/audit", {"resource": "collection:kaihatsu"}).json()["items"]
    assert [line["action"] for line in lines] == ["CONFIG_CHANGE"]


def test_a_later_owner_of_a_slug_sees_no_receipt_of_the_former_one(deleted: Collection) -> None:
    _collection, bob = again("kaihatsu")
    receipt = DeletionReceipt.objects.get()
    assert receipt.public_id not in client_of(bob).get(reverse("admin:knowledge_deletionreceipt_changelist")).text
    root = client_of(make_user("佐藤", is_superuser=True))
    assert receipt.public_id in root.get(reverse("admin:knowledge_deletionreceipt_changelist")).text
