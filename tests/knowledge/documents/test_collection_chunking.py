"""Documents are cut as their collection says, unless somebody said otherwise of one."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.core.errors import Forbidden, InvalidInput, NotFound
from knowledge.collections import get_collection
from knowledge.documents import sources
from knowledge.documents.chunking import cut_otherwise, recut_collection, set_chunking
from knowledge.documents.reindexing import reindex_document
from knowledge.models import Document, DocumentStatus
from knowledge.types.chunks import ChunkOptions
from tests.factories import principal_with, upload_text, work_through
from tests.knowledge.documents.source_support import run, watch, work_off

pytestmark = pytest.mark.django_db

SMALL = ChunkOptions(size=120, overlap=10)
LARGE = ChunkOptions(size=400, overlap=40)
TEXT = "# 予約\n\n" + "予約は窓口で受け付け、台帳に書く。" * 40 + "\n"


def cut_as(document: Document) -> tuple[bool, int]:
    latest = Document.objects.get(pk=document.pk).latest_version
    return latest.has_own_policy, latest.policy.size


def chunks(document: Document) -> int:
    return Document.objects.get(pk=document.pk).current_version.chunks_count


def test_documents_that_come_in_are_cut_so_and_those_that_are_there_when_they_are_worked_on_again(tmp_path):
    old = work_through(upload_text(local_operator(), tmp_path, TEXT, name="旧.md").document)
    before = chunks(old)
    collection = set_chunking(principal=local_operator(), slug="default", chunk_options=SMALL)
    new = work_through(upload_text(local_operator(), tmp_path, TEXT, name="新.md").document)
    assert cut_as(new) == (True, 120)
    assert cut_as(old)[0] is False
    assert list(cut_otherwise(local_operator(), collection)) == [old]

    done = recut_collection(principal=local_operator(), collection="default")
    assert (done.done, done.refused) == ((old.public_id,), ())
    assert chunks(old) == before  # search keeps the old passages until the new ones are there
    work_through(Document.objects.get(pk=old.pk))
    assert cut_as(old) == (True, 120)
    assert chunks(old) == chunks(new) > before
    assert not cut_otherwise(local_operator(), collection).exists()


def test_a_document_that_could_not_be_read_is_worked_on_again_without_a_next_version(tmp_path):
    broken = work_through(upload_text(local_operator(), tmp_path, "%PDF-1.7\n壊れた", name="壊れた.pdf").document)
    assert broken.latest_version.status == DocumentStatus.FAILED
    collection = set_chunking(principal=local_operator(), slug="default", chunk_options=SMALL)
    assert recut_collection(principal=local_operator(), collection="default").done == (broken.public_id,)
    assert broken.versions.count() == 1
    assert not cut_otherwise(local_operator(), collection).exists()


def test_going_back_to_the_embedding_sets_way_cuts_anew_by_it(tmp_path):
    set_chunking(principal=local_operator(), slug="default", chunk_options=SMALL)
    document = work_through(upload_text(local_operator(), tmp_path, TEXT).document)
    set_chunking(principal=local_operator(), slug="default", chunk_options=None)
    reindex_document(principal=local_operator(), document_id=document.public_id)
    assert cut_as(document)[0] is False
    event = AuditEvent.objects.filter(action="CONFIG_CHANGE", resource="collection:default").latest("pk")
    assert event.details["changed"] == ["chunking"]


def test_what_somebody_chose_for_a_document_stays(tmp_path):
    document = work_through(upload_text(local_operator(), tmp_path, TEXT).document)
    reindex_document(principal=local_operator(), document_id=document.public_id, chunk_options=LARGE)
    collection = set_chunking(principal=local_operator(), slug="default", chunk_options=SMALL)
    assert not cut_otherwise(local_operator(), collection).exists()
    reindex_document(principal=local_operator(), document_id=document.public_id)
    assert cut_as(document) == (True, 400)


def test_files_of_a_source_that_says_nothing_follow_the_collection_at_the_next_scan(tmp_path):
    folder = tmp_path / "共有"
    folder.mkdir()
    (folder / "予約.md").write_text(TEXT, encoding="utf-8")
    source = watch(folder)
    run(source)
    work_off()
    set_chunking(principal=local_operator(), slug="default", chunk_options=SMALL)
    assert run(source) == (0, 1, 0, 0, 0)
    document = Document.objects.get(path="予約.md")
    assert cut_as(document) == (True, 120)
    sources.update_source(principal=local_operator(), name=source.name, chunk_options=LARGE)
    assert run(source) == (0, 1, 0, 0, 0)
    assert cut_as(document) == (True, 400)


def test_curators_say_it_and_impossible_sizes_are_refused():
    reader = principal_with(Role.READER, get_collection(local_operator(), "default"))
    with pytest.raises((Forbidden, NotFound)):
        set_chunking(principal=reader, slug="default", chunk_options=SMALL)
    with pytest.raises((Forbidden, NotFound)):
        recut_collection(principal=reader, collection="default")
    with pytest.raises(InvalidInput):
        set_chunking(principal=local_operator(), slug="default", chunk_options=ChunkOptions(size=100_000))


def test_the_command_shows_changes_and_cuts_anew(tmp_path):
    document = work_through(upload_text(local_operator(), tmp_path, TEXT).document)
    out = io.StringIO()
    call_command("chunking", "default", "--size", "120", "--overlap", "10", "--reindex", stdout=out)
    assert "started again: 1" in out.getvalue()
    assert "cut otherwise 0" in out.getvalue()
    assert cut_as(document) == (True, 120)
    call_command("chunking", "default", "--default", stdout=out)
    assert get_collection(local_operator(), "default").policy is None
