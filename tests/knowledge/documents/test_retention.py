"""Retention: what goes when its period is over, and what stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from hub.access.models import AuditEvent
from hub.access.principals import local_operator
from knowledge import tasks
from knowledge.collections import update_collection
from knowledge.documents import deletion
from knowledge.documents.deletion import retire_document
from knowledge.documents.editing import set_legal_hold
from knowledge.models import Collection, DeletionReceipt, Document
from tests.factories import new_collection, principal_with, upload_text
from tests.knowledge.documents.contract import TEXT

pytestmark = pytest.mark.django_db


def age(document: Document, *, days: int) -> None:
    Document.objects.filter(pk=document.pk).update(updated_at=Now() - timedelta(days=days))


def keep_for(days: int | None) -> None:
    update_collection(principal=local_operator(), slug="default", retention_days=days)


def test_a_document_goes_when_its_period_is_over_and_not_a_day_before(document):
    keep_for(30)
    age(document, days=29)
    assert deletion.enforce_retention().deleted == 0
    age(document, days=31)
    assert deletion.enforce_retention().deleted == 1
    assert not Document.objects.exists()
    receipt = DeletionReceipt.objects.get()
    assert (receipt.document_id, receipt.principal) == (document.public_id, "system:retention")
    assert AuditEvent.objects.filter(action="DOCUMENT_DELETE", principal="system:retention").count() == 1


def test_without_a_period_nothing_ever_goes(document):
    age(document, days=100_000)
    assert deletion.enforce_retention().deleted == 0
    assert deletion.retention_days(document.collection) is None


def test_the_setting_is_the_period_of_collections_without_their_own(document, tmp_path, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"retention_days": 10})
    longer = new_collection(retention_days=1000)
    kept = upload_text(local_operator(), tmp_path, TEXT, name="長期.md", collection=longer.slug).document
    for each in (document, kept):
        age(each, days=11)
    assert deletion.enforce_retention().deleted == 1
    assert list(Document.objects.all()) == [kept]
    assert deletion.retention_days(Collection.objects.get(slug="default")) == 10


def test_a_new_version_begins_the_period_again(document, tmp_path):
    keep_for(30)
    age(document, days=31)
    upload_text(local_operator(), tmp_path, TEXT + "\n## 第2条\n\n改定。\n", name="契約書.md")
    assert deletion.enforce_retention().deleted == 0


def test_a_retired_document_goes_as_well(document):
    keep_for(30)
    retire_document(document)
    age(document, days=31)
    assert deletion.enforce_retention().deleted == 1


def test_a_legal_hold_stops_retention_and_lifting_it_does_not_renew_the_period(document):
    keep_for(30)
    age(document, days=31)
    set_legal_hold(principal=local_operator(), document_id=document.public_id, reason="訴訟 令和7年(ワ)第1号")
    assert deletion.enforce_retention().deleted == 0
    set_legal_hold(principal=local_operator(), document_id=document.public_id, reason="")
    assert deletion.enforce_retention().deleted == 1


def test_the_preview_counts_what_would_go_and_what_is_held_and_deletes_nothing(document, tmp_path):
    held = upload_text(local_operator(), tmp_path, TEXT, name="保全.md").document
    upload_text(local_operator(), tmp_path, TEXT, name="新しい.md")
    set_legal_hold(principal=local_operator(), document_id=held.public_id, reason="調査")
    keep_for(30)
    for each in (document, held):
        age(each, days=31)
    [row] = deletion.preview_retention(local_operator())
    assert (row.collection.slug, row.days, row.due, row.held) == ("default", 30, 1, 1)
    assert Document.objects.count() == 3
    assert deletion.preview_retention(principal_with(None, row.collection)) == []


def test_a_batch_is_bounded_and_takes_the_oldest_first(document, tmp_path):
    keep_for(30)
    older = upload_text(local_operator(), tmp_path, TEXT, name="古い.md").document
    age(document, days=31)
    age(older, days=60)
    assert deletion.enforce_retention(limit=1).deleted == 1
    assert list(Document.objects.all()) == [document]


def test_the_task_deletes_what_is_due(document, queue):
    keep_for(30)
    age(document, days=31)
    assert tasks.enforce_retention() == {"deleted": 1, "failed": 0}
    tasks.tidy()
    assert not Document.objects.exists()
