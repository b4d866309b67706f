"""doctor's index checks: each kind of damage is seen, repaired, and then gone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from hub.access.principals import local_operator
from knowledge.consistency import check_consistency
from knowledge.models import Chunk, ChunkVector, Document, LexicalStatistics, PendingBytes
from knowledge.storage import get_blob_store
from knowledge.storage.blobs import expect_bytes
from tests.factories import upload_text, work_through

pytestmark = pytest.mark.django_db

TEXT = "# 運用\n\n## 1. 監視\n\n死活監視は 5 分ごとに行う。\n"


@pytest.fixture
def document(tmp_path) -> Document:
    for name in list(get_blob_store().iter_names()):
        get_blob_store().delete(name)
    return work_through(upload_text(local_operator(), tmp_path, TEXT).document)


def codes(*, repair: bool = False) -> list[str]:
    return [problem.code for problem in check_consistency(repair=repair)]


def test_a_sound_hub_has_no_findings(document):
    assert codes() == []


def test_lost_vectors_are_seen_and_the_document_is_indexed_again(document):
    ChunkVector.objects.all().delete()
    assert codes() == ["rows_without_vectors"]
    codes(repair=True)
    work_through(document)
    assert codes() == []
    assert ChunkVector.objects.count() == Chunk.objects.count()


def test_vectors_of_a_version_that_is_not_current_leave_the_index(document):
    Document.objects.filter(pk=document.pk).update(current_version=None)
    assert codes() == ["vectors_without_rows"]
    assert codes(repair=True) == ["vectors_without_rows"]
    assert codes() == []


def test_wrong_counters_are_seen_without_repairing_and_put_right_with(document):
    before = set(LexicalStatistics.objects.values_list("field", "policy", "chunks", "total_length"))
    LexicalStatistics.objects.update(chunks=99)
    assert codes() == ["counters"]
    assert codes() == ["counters"]
    codes(repair=True)
    assert set(LexicalStatistics.objects.values_list("field", "policy", "chunks", "total_length")) == before


def test_a_file_that_is_gone_from_the_store_is_seen_and_can_not_be_repaired(document):
    get_blob_store().delete(document.latest_version.blob_id)
    assert codes(repair=True) == ["blobs_missing"]
    assert codes() == ["blobs_missing"]


def test_a_file_that_this_hub_never_wrote_is_a_note_and_stays(document, tmp_path):
    stray = tmp_path / "stray"
    stray.write_bytes(b"x")
    get_blob_store().put("f" * 64, stray)
    (problem,) = check_consistency(repair=True)
    assert (problem.code, problem.is_note, problem.count) == ("blobs_unknown", True, 1)
    assert "f" * 64 in set(get_blob_store().iter_names())


def test_what_an_upload_that_broke_off_a_week_ago_left_is_removed(document, tmp_path):
    stray = tmp_path / "stray"
    stray.write_bytes(b"x")
    expect_bytes(["f" * 64])
    get_blob_store().put("f" * 64, stray)
    assert codes() == []  # it may still be under way
    PendingBytes.objects.update(since=timezone.now() - timedelta(days=8))
    assert codes() == ["blobs_without_rows"]
    codes(repair=True)
    assert codes() == []
    assert "f" * 64 not in set(get_blob_store().iter_names())
