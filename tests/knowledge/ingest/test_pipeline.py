"""The pipeline's promises: one worker at a time, any crash is repaired, failures are visible and end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.models import F
from django.db.models.functions import Now

from hub.access.principals import local_operator
from hub.core.lease import LeaseLost, claim, lease_duration
from knowledge.index import postings, vectors
from knowledge.ingest import pipeline, stages
from knowledge.models import Chunk, ChunkVector, DocumentStatus, DocumentVersion
from tests.factories import upload_text, work_through
from tests.knowledge.search.postings import posting_rows

pytestmark = pytest.mark.django_db

TEXT = "# 設計\n\n" + "\n\n".join(
    f"## {n}. 節\n\n第{n}節では受付の手順を定める。担当は窓口とする。" for n in range(1, 40)
)


@pytest.fixture
def version(tmp_path) -> DocumentVersion:
    return upload_text(local_operator(), tmp_path, TEXT).document.latest_version


def rows() -> tuple[set, set, set]:
    """Everything that indexing makes, without surrogate keys."""
    return (
        set(Chunk.objects.values_list("public_id", "content", "token_count")),
        set(ChunkVector.objects.values_list("chunk__public_id", flat=True)),
        posting_rows(),
    )


def test_each_call_does_one_stage_until_the_version_is_ready(version):
    seen = []
    while pipeline.advance(version.pk):
        seen.append(DocumentVersion.objects.get(pk=version.pk).status)
    version.refresh_from_db()
    assert seen[:2] == ["chunking", "embedding"]
    assert (version.status, version.progress, version.lease_token) == ("ready", 100, "")
    assert version.finished_at is not None


def test_every_chunk_is_the_stored_text_at_its_offsets(version):
    work_through(version.document)
    markdown = version.content.markdown
    assert markdown == TEXT
    for chunk in Chunk.objects.filter(version=version):
        assert chunk.content == markdown[chunk.start_offset : chunk.end_offset]


def test_a_version_that_somebody_works_on_is_left_alone(version):
    assert claim(DocumentVersion.objects.all(), version.pk) is not None
    assert pipeline.advance(version.pk) is False
    version.refresh_from_db()
    assert version.status == DocumentStatus.STORED


def test_a_worker_whose_lease_ran_out_writes_nothing(version):
    lease = claim(DocumentVersion.objects.all(), version.pk)
    DocumentVersion.objects.filter(pk=version.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
    assert claim(DocumentVersion.objects.all(), version.pk) is not None
    with pytest.raises(LeaseLost):
        lease.lock()


@pytest.mark.parametrize(("broke_off", "longer"), [(0, 1), (1, 2), (2, 4), (4, 8)])
def test_work_that_broke_off_is_given_longer_before_somebody_else_takes_it(version, monkeypatch, broke_off, longer):
    held = []

    def stage(version, lease):
        row = DocumentVersion.objects.filter(pk=version.pk)
        held.append(row.values_list(F("lease_expires_at") - Now()).get()[0])
        raise LeaseLost

    DocumentVersion.objects.filter(pk=version.pk).update(attempts=broke_off)
    monkeypatch.setitem(pipeline.STAGES, DocumentStatus.PARSING, stage)
    assert pipeline.advance(version.pk) is False
    assert longer - 0.5 < held[0] / lease_duration() <= longer


def test_a_crash_in_the_middle_of_embedding_leaves_the_same_rows_as_one_clean_run(version, monkeypatch):
    work_through(version.document)
    clean = rows()
    pipeline.reset(version.pk)
    monkeypatch.setattr(stages, "WRITE_BATCH", 4)
    while DocumentVersion.objects.get(pk=version.pk).status != DocumentStatus.EMBEDDING:
        pipeline.advance(version.pk)
    _crash_after_two_batches(version, monkeypatch)
    assert 0 < ChunkVector.objects.count() < Chunk.objects.count()
    DocumentVersion.objects.filter(pk=version.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
    assert pipeline.queue_stuck() == [version.pk]
    work_through(version.document)
    assert rows() == clean


def _crash_after_two_batches(version, monkeypatch):
    """What SIGKILL does: the process is gone, its transaction with it, its lease stays."""
    calls = []
    write = postings.write_postings

    def write_twice_then_die(*args, **kwargs):
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        write(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(vectors, "write_postings", write_twice_then_die)
        with pytest.raises(KeyboardInterrupt):
            pipeline.advance(version.pk)


def test_running_every_stage_twice_gives_the_same_rows(version):
    work_through(version.document)
    clean = rows()
    for status in (DocumentStatus.CHUNKING, DocumentStatus.EMBEDDING):
        DocumentVersion.objects.filter(pk=version.pk).update(status=status)
        work_through(version.document)
        assert rows() == clean


def test_a_file_that_can_not_be_read_fails_with_a_reason_and_keeps_its_bytes(tmp_path):
    done = upload_text(local_operator(), tmp_path, "", name="空.md")
    document = work_through(done.document)
    assert document.latest_version.status == DocumentStatus.FAILED
    assert document.latest_version.status_code == "empty_file"
    assert document.latest_version.status_reason_ja
    assert document.latest_version.status_reason_en
    assert document.current_version is None


def test_an_unexpected_error_pauses_and_after_the_last_try_fails_visibly(version, monkeypatch, settings):
    def broken(_version, _lease):
        raise RuntimeError("disk on fire")

    monkeypatch.setitem(pipeline.STAGES, DocumentStatus.PARSING, broken)
    for _ in range(settings.CONFIG.hub_max_attempts):
        assert pipeline.advance(version.pk) is False
        DocumentVersion.objects.filter(pk=version.pk).update(lease_expires_at=None)
    version.refresh_from_db()
    assert version.status == DocumentStatus.FAILED
    assert version.status_code == "internal_error"
    assert "disk on fire" not in version.status_reason_ja


def test_what_waits_in_a_long_queue_is_not_queued_again_every_few_seconds(version):
    DocumentVersion.objects.filter(pk=version.pk).update(queued_at=Now() - timedelta(minutes=5))
    assert pipeline.queue_stuck() == [version.pk]
    assert pipeline.queue_stuck() == []


@pytest.mark.django_db(transaction=True)
def test_what_a_sweep_was_giving_out_when_the_database_went_away_is_found_by_the_next_one(
    version, tmp_path, monkeypatch
):
    other = upload_text(local_operator(), tmp_path, "# 別\n\n本文。", name="別.md").document.latest_version
    both = [version.pk, other.pk]
    DocumentVersion.objects.filter(pk__in=both).update(queued_at=Now() - timedelta(minutes=5))
    real = pipeline.next_task

    def end_the_connection_at_the_second(version_id: int) -> str:
        if version_id == other.pk:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return real(version_id)

    monkeypatch.setattr(pipeline, "next_task", end_the_connection_at_the_second)
    with pytest.raises(OperationalError):
        pipeline.queue_stuck()
    connection.close()
    monkeypatch.setattr(pipeline, "next_task", real)
    assert sorted(pipeline.queue_stuck()) == both


def test_a_document_deleted_while_at_work_ends_the_work_quietly(version, monkeypatch):
    real = pipeline.STAGES[DocumentStatus.CHUNKING]

    def delete_then_chunk(row, lease):
        row.document.delete()
        return real(row, lease)

    pipeline.advance(version.pk)
    monkeypatch.setitem(pipeline.STAGES, DocumentStatus.CHUNKING, delete_then_chunk)
    assert pipeline.advance(version.pk) is False
    assert not DocumentVersion.objects.filter(pk=version.pk).exists()
