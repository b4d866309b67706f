"""Only what this hub wrote, and only from a store that is its own, is ever removed."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from hub.access.principals import local_operator
from knowledge.documents.deletion import delete_document
from knowledge.documents.uploads import Upload, create_document, hash_file
from knowledge.models import Blob, Document, PendingBytes
from knowledge.storage import get_blob_store
from knowledge.storage.blobs import (
    MANY_REMAINS,
    claim_store,
    expect_bytes,
    owns_store,
    remove_pending_bytes,
    this_database,
)
from knowledge.tasks import tidy
from tests.factories import upload_text

pytestmark = pytest.mark.django_db

TEXT = "# 運用\n\n## 1. 監視\n\n死活監視は 5 分ごとに行う。\n"


@pytest.fixture(autouse=True)
def _own_store_again() -> Iterator[None]:
    for name in list(get_blob_store().iter_names()):
        get_blob_store().delete(name)
    yield
    claim_store()


def store(tmp_path: Path, text: str) -> str:
    """Put bytes as another hub on the same store does; gives their name."""
    path = tmp_path / "other"
    path.write_text(text, encoding="utf-8")
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    get_blob_store().put(sha256, path)
    return sha256


def stored() -> set[str]:
    return set(get_blob_store().iter_names())


def doctor(capsys, *arguments: str) -> str:
    with contextlib.suppress(SystemExit):
        call_command("doctor", *arguments)
    return capsys.readouterr().out


def test_a_fresh_database_on_a_store_in_use_removes_nothing(tmp_path, capsys, queue):
    get_blob_store().write_owner("")
    others = {store(tmp_path, f"原本 {number}") for number in range(20)}
    tidy()
    assert not owns_store()
    said = doctor(capsys, "--repair")
    assert stored() == others
    assert "blobs_unknown: 20" in said
    assert "--claim-store" in said


def test_a_restored_older_dump_keeps_what_came_after_it(tmp_path):
    document = upload_text(local_operator(), tmp_path, TEXT).document
    blob = document.latest_version.blob_id
    Document.objects.all().delete()  # the rows are those of an older dump, the bytes are not
    Blob.objects.all().delete()
    tidy()
    assert blob in stored()


def test_a_copy_of_the_database_deletes_documents_and_leaves_the_bytes(
    tmp_path, capsys, queue, django_capture_on_commit_callbacks
):
    document = upload_text(local_operator(), tmp_path, TEXT).document
    blob = document.latest_version.blob_id
    get_blob_store().write_owner("7123456789012345678.16384")  # the database that this one is a copy of
    with django_capture_on_commit_callbacks(execute=True):
        delete_document(principal=local_operator(), document_id=document.public_id)
    tidy()
    assert blob in stored()
    assert list(PendingBytes.objects.values_list("pk", "deleted")) == [(blob, True)]
    assert "store belongs to another database" in doctor(capsys, "--repair")
    assert blob in stored()
    doctor(capsys, "--claim-store", "--repair")
    assert blob not in stored()
    assert not PendingBytes.objects.exists()


def test_bytes_that_are_stored_again_before_they_could_be_removed_stay(tmp_path, django_capture_on_commit_callbacks):
    document = upload_text(local_operator(), tmp_path, TEXT).document
    get_blob_store().write_owner("another")
    with django_capture_on_commit_callbacks(execute=True):
        delete_document(principal=local_operator(), document_id=document.public_id)
    claim_store()
    again = upload_text(local_operator(), tmp_path, TEXT).document
    tidy()
    assert again.latest_version.blob_id in stored()
    assert not PendingBytes.objects.exists()


def test_remains_of_very_many_uploads_wait_for_somebody_to_look(tmp_path):
    names = [f"{number:064x}" for number in range(MANY_REMAINS + 1)]
    expect_bytes(names)
    PendingBytes.objects.update(since=timezone.now() - timedelta(days=8))
    assert (remove_pending_bytes().removed, PendingBytes.objects.count()) == (0, len(names))
    assert remove_pending_bytes(many=True).removed == len(names)


def test_an_upload_leaves_no_note_behind_and_a_broken_one_does(tmp_path, monkeypatch):
    upload_text(local_operator(), tmp_path, TEXT)
    assert not PendingBytes.objects.exists()

    def fail(_lock: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("knowledge.documents.uploads.lock_bytes", fail)
    with pytest.raises(KeyboardInterrupt):
        upload_text(local_operator(), tmp_path, TEXT + "追記。\n", name="別.md")
    assert PendingBytes.objects.filter(deleted=False).count() == 1


def test_bytes_that_were_removed_while_they_were_uploaded_again_are_stored_once_more(tmp_path):
    path = tmp_path / "設計書.md"
    path.write_text(TEXT, encoding="utf-8")
    sha256, size_bytes = hash_file(path)

    def removed_meanwhile() -> None:  # as the removal of a document with the same bytes does, whose turn came first
        assert sha256 in stored()
        get_blob_store().delete(sha256)
        PendingBytes.objects.all().delete()

    upload = Upload(file=path, filename=path.name, sha256=sha256, size_bytes=size_bytes)
    create_document(principal=local_operator(), upload=upload, hold=removed_meanwhile)
    assert sha256 in stored()
    assert not PendingBytes.objects.exists()


def test_an_empty_store_becomes_the_first_database_s_own():
    get_blob_store().write_owner("")
    assert owns_store()
    assert get_blob_store().read_owner() == this_database()
