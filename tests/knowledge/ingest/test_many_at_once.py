"""What one person brings in large numbers lets other people's work go first, and does not stand still."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import current_app
from django.conf import settings
from django.contrib.auth.models import User

from hub.access.principals import Principal
from hub.access.services import principal_for_user
from hub.core.queue_turns import BULK, EVERY, Turns
from hub.core.valkey import client_of
from knowledge.ingest import pipeline
from knowledge.models import DocumentStatus, DocumentVersion
from knowledge.tasks import advance_bulk_version, advance_version
from tests.factories import upload_text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


@pytest.fixture
def emptied() -> Iterator[None]:
    """Nothing is in the queue of imports, neither before nor after a test."""
    client = client_of(settings.REDIS_CLIENT_URL)
    client.delete(BULK)
    yield
    client.delete(BULK)


def person(name: str) -> Principal:
    return principal_for_user(User.objects.create(username=name, is_superuser=True))


def brought(by: Principal, folder: Path, count: int) -> list[DocumentVersion]:
    outcomes = [upload_text(by, folder, f"# 要領 {n}\n\n本文。\n", name=f"{by.user_id}-{n}.md") for n in range(count)]
    return [DocumentVersion.objects.get(pk=one.document.latest_version_id) for one in outcomes]


def test_the_documents_of_others_go_before_the_sixth_of_one_person(tmp_path: Path):
    many = brought(person("importer"), tmp_path, pipeline.MANY + 2)
    (own,) = brought(person("reader"), tmp_path, 1)
    assert [pipeline.is_one_of_many(version.pk) for version in many] == [False] * pipeline.MANY + [True] * 2
    assert not pipeline.is_one_of_many(own.pk)
    DocumentVersion.objects.filter(pk__in=[one.pk for one in many[:2]]).update(status=DocumentStatus.READY)
    assert not pipeline.is_one_of_many(many[-1].pk)
    assert not pipeline.is_one_of_many(0)  # it was deleted


def test_documents_of_nobody_are_one_owners(tmp_path: Path):
    scanned = brought(person("importer"), tmp_path, pipeline.MANY + 1)
    for version in scanned:
        type(version.document).objects.filter(pk=version.document_id).update(owner=None)
    assert pipeline.is_one_of_many(scanned[-1].pk)


def test_one_of_many_waits_in_a_queue_of_its_own_and_is_worked_on_from_there(tmp_path: Path, emptied):
    *_others, last = brought(person("importer"), tmp_path, pipeline.MANY + 1)
    pipeline.queue(last.pk)
    assert client_of(settings.REDIS_CLIENT_URL).llen(BULK) == 1
    advance_bulk_version(version_id=last.pk)
    last.refresh_from_db()
    assert last.status == DocumentStatus.CHUNKING


def test_what_is_uploaded_is_queued_as_one_of_many_at_once(tmp_path: Path, emptied, django_capture_on_commit_callbacks):
    importer = person("importer")
    with django_capture_on_commit_callbacks(execute=True):
        brought(importer, tmp_path, pipeline.MANY + 2)
    assert client_of(settings.REDIS_CLIENT_URL).llen(BULK) == 2


def test_one_that_a_review_waits_for_goes_before_its_import(
    tmp_path: Path, emptied, django_capture_on_commit_callbacks
):
    *_others, last = brought(person("importer"), tmp_path, pipeline.MANY + 1)
    assert pipeline.is_one_of_many(last.pk)
    with django_capture_on_commit_callbacks() as queued:
        pipeline.let_go_first(last.pk)
        pipeline.let_go_first(last.pk)
    assert len(queued) == 1
    assert pipeline.next_task(last.pk) == "knowledge.advance_version"
    advance_version(version_id=last.pk)
    last.refresh_from_db()
    assert last.status == DocumentStatus.CHUNKING
    assert pipeline.next_task(last.pk) == "knowledge.advance_version"


def test_reviews_of_a_whole_import_let_a_few_of_it_go_first_until_they_are_read(tmp_path: Path):
    many = brought(person("importer"), tmp_path, 2 * pipeline.MANY + 2)
    for version in many:
        pipeline.let_go_first(version.pk)
    first = DocumentVersion.objects.filter(goes_first=True)
    assert first.count() == pipeline.MANY
    first.update(status=DocumentStatus.READY)
    pipeline.let_go_first(many[-1].pk)
    assert first.count() == pipeline.MANY + 1
    pipeline.reset(many[-1].pk)
    assert first.count() == pipeline.MANY


@pytest.mark.parametrize("status", [DocumentStatus.READY, DocumentStatus.READING, DocumentStatus.FAILED])
def test_one_that_is_read_or_waits_for_ocr_has_nothing_to_go_before(tmp_path: Path, status):
    (version,) = brought(person("importer"), tmp_path, 1)
    DocumentVersion.objects.filter(pk=version.pk).update(status=status)
    pipeline.let_go_first(version.pk)
    version.refresh_from_db()
    assert not version.goes_first


def test_of_four_messages_one_is_of_the_imports():
    assert current_app.conf.broker_transport_options["queue_order_strategy"] == f"{Turns.__module__}:{Turns.__name__}"
    turns = Turns()
    turns.update(["celery", BULK, "ocr"])
    first = []
    for _message in range(2 * EVERY):
        first.append(turns.consume(3)[0])
        turns.rotate(first[-1])
    assert first == (["celery"] * (EVERY - 1) + [BULK]) * 2
    assert turns.consume(3) == ["celery", BULK, "ocr"]
    turns.update(["ocr"])  # a worker with -Q ocr
    assert {turns.consume(1)[0] for _message in range(EVERY)} == {"ocr"}
