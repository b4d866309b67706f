"""One bad row stops nobody: retention goes on past a collection or a document at which it fails, and says so."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from hub.access.principals import local_operator
from hub.core import scheduled_rows
from hub.core.errors import InvalidInput
from hub.site import alerts
from knowledge import tasks
from knowledge.collections import create_collection, update_collection
from knowledge.documents import deletion
from knowledge.extensions import ERASERS
from knowledge.models import Collection, Document
from tests.factories import new_collection, upload_text
from tests.hub.admin.support import client_of, make_user
from tests.knowledge.documents.contract import TEXT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


def old_document(folder, collection: str) -> Document:
    document = upload_text(local_operator(), folder, f"{TEXT}{collection}", collection=collection).document
    Document.objects.filter(pk=document.pk).update(updated_at=Now() - timedelta(days=31))
    return document


@pytest.fixture
def two_collections(tmp_path) -> tuple[Document, Document]:
    """An expired document in each of two collections that keep documents for 30 days."""
    for slug in ("first", "second"):
        new_collection(slug=slug, retention_days=30)
    return old_document(tmp_path, "first"), old_document(tmp_path, "second")


def store_unchecked(slug: str, days: int) -> None:
    """Write a period that no table of today takes, as an older release did."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what waits for the end of the transaction stands in the way
        cursor.execute(
            "ALTER TABLE knowledge_collection DROP CONSTRAINT IF EXISTS knowledge_collection_retention_days_bounds"
        )
    Collection.objects.filter(slug=slug).update(retention_days=days)


@pytest.fixture
def failing_eraser(two_collections):
    """The second document's deletion fails in the app that keeps something of it."""
    broken, whole = two_collections

    def erase(document: Document) -> dict[str, int]:
        if document.pk == broken.pk:
            raise ZeroDivisionError("what is kept of it can't be read")
        return {}

    ERASERS.register(erase)
    yield broken, whole
    ERASERS.remove(erase)


def test_a_period_that_no_calendar_has_keeps_no_other_collection_from_its_deletions(two_collections):
    store_unchecked("first", 2**31 - 1)
    deletion.enforce_retention()
    assert [document.pk for document in Document.objects.all()] == [two_collections[0].pk]


def test_the_retention_page_is_shown_whatever_period_is_stored(two_collections):
    store_unchecked("first", 2**31 - 1)
    browser: Client = client_of(make_user("root", is_superuser=True), language="en")
    assert browser.get(reverse("admin:hub_retention")).status_code == 200


def test_a_document_that_can_not_be_deleted_is_named_and_the_others_go(failing_eraser, caplog):
    broken, _whole = failing_eraser
    assert tasks.enforce_retention() == {"deleted": 1, "failed": 1}
    assert [document.pk for document in Document.objects.all()] == [broken.pk]
    assert f"first/{broken.public_id}" in caplog.text


def test_what_failed_is_an_alert_until_a_run_fails_at_nothing(failing_eraser):
    broken, _whole = failing_eraser
    deletion.enforce_retention()
    assert f"first/{broken.public_id}" in alerts.troubles()["failing:knowledge.enforce_retention"]
    Document.objects.filter(pk=broken.pk).update(legal_hold="調査")
    deletion.enforce_retention()
    assert "failing:knowledge.enforce_retention" not in alerts.troubles()


def test_many_failures_in_one_collection_do_not_use_up_the_turn_of_another(tmp_path, failing_eraser, monkeypatch):
    _broken, whole = failing_eraser
    monkeypatch.setattr(scheduled_rows, "FAILURES_AT_MOST", 1)
    assert deletion.enforce_retention().failed
    assert not Document.objects.filter(pk=whole.pk).exists()


@pytest.mark.parametrize("days", [0, -1, 36_501, 2**31, 10**12])
def test_no_door_stores_a_period_outside_of_a_century(days):
    with pytest.raises(InvalidInput, match="retention_days"):
        update_collection(principal=local_operator(), slug="default", retention_days=days)
    with pytest.raises(InvalidInput, match="retention_days"):
        create_collection(principal=local_operator(), slug="new", name="x", retention_days=days)


@pytest.mark.parametrize("days", [0, 36_501, 2**31 - 1])
def test_the_table_itself_refuses_a_period_outside_of_a_century(days):
    with pytest.raises(IntegrityError), transaction.atomic():
        Collection.objects.filter(slug="default").update(retention_days=days)


def test_the_longest_period_is_kept_and_counted_with():
    update_collection(principal=local_operator(), slug="default", retention_days=36_500)
    assert deletion.enforce_retention().deleted == 0
