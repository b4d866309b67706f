"""Scans as work: when one is due, killed ones that go on, one at a time, and errors that end in the report."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from hub.access.principals import local_operator
from hub.core.errors import Conflict
from hub.core.lease import claim
from knowledge import tasks
from knowledge.documents import passes, scans, sources
from knowledge.documents.folder_reports import FolderReport
from knowledge.documents.folders import index_folder
from knowledge.documents.uploads import create_document, hash_file
from knowledge.models import DocumentVersion, Source
from knowledge.sources.folder import FolderReader
from knowledge.types.chunks import ChunkOptions
from tests.knowledge.documents.source_support import live_paths, run, state

pytestmark = pytest.mark.django_db

SMALL = ChunkOptions(size=120, overlap=10)


def test_a_killed_scan_is_gone_on_with_and_ends_the_same(source, monkeypatch):
    calls = []

    def create_one_then_die(**arguments):
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return create_document(**arguments)

    with monkeypatch.context() as patch:
        patch.setattr(passes, "create_document", create_one_then_die)
        with pytest.raises(KeyboardInterrupt):
            scans.scan(source.pk)
    assert len(live_paths()) == 1
    assert scans.scan(source.pk) is False  # the dead scan's lease still holds
    assert scans.due_sources() == []
    Source.objects.filter(pk=source.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
    assert scans.due_sources() == [source.pk]
    assert scans.scan(source.pk) is False
    source.refresh_from_db()
    assert state(source) == "completed"
    assert (source.report["new"], source.report["unchanged"]) == (2, 1)
    assert run(source) == (0, 0, 3, 0, 0)


def test_two_scans_of_one_source_never_run_at_once(source):
    lease = claim(Source.objects.all(), source.pk)
    assert lease is not None
    assert scans.scan(source.pk) is False
    assert live_paths() == set()
    lease.release()
    assert run(source) == (3, 0, 0, 0, 0)


def test_a_scan_that_lost_its_lease_writes_nothing_more(source, monkeypatch):
    def hash_and_lose(path):
        Source.objects.filter(pk=source.pk).update(lease_token="another")
        return hash_file(path)

    monkeypatch.setattr(passes, "hash_file", hash_and_lose)
    assert scans.scan(source.pk) is False
    assert live_paths() == set()


def test_a_long_scan_is_done_in_pieces_that_add_up(source, folder):
    (folder / "改\n行.md").write_text("# 改行\n", encoding="utf-8")
    pieces = 1
    while scans.scan(source.pk, slice_s=0):
        pieces += 1
        source.refresh_from_db()
        assert state(source) == "running"
    source.refresh_from_db()
    assert pieces == 4
    assert state(source) == "completed"
    assert [source.report[name] for name in ("new", "unchanged", "failed")] == [3, 0, 1]


def test_a_source_is_due_at_its_time_and_when_somebody_asks(source, django_capture_on_commit_callbacks):
    assert scans.due_sources() == [source.pk]
    run(source)
    assert scans.due_sources() == []
    assert scans.scan(source.pk) is False
    Source.objects.filter(pk=source.pk).update(scanned_at=Now() - timedelta(minutes=16))
    assert scans.due_sources() == [source.pk]
    run(source)
    with django_capture_on_commit_callbacks() as callbacks:
        sources.request_scan(principal=local_operator(), name=source.name)
    assert len(callbacks) == 1
    assert scans.due_sources() == [source.pk]
    sources.update_source(principal=local_operator(), name=source.name, enabled=False)
    assert scans.due_sources() == []
    with pytest.raises(Conflict):
        sources.request_scan(principal=local_operator(), name=source.name)


def test_beat_queues_due_sources_and_the_task_scans_them(source, queue):
    assert tasks.scan_due_sources() == 1
    tasks.scan_source(source_id=source.pk)
    assert len(live_paths()) == 3
    assert tasks.scan_due_sources() == 0


def test_an_unforeseen_error_ends_in_the_report_and_is_raised(source, monkeypatch):
    def fail(_self, _heartbeat):
        raise ZeroDivisionError

    monkeypatch.setattr("knowledge.sources.folder.FolderReader.list_files", fail)
    with pytest.raises(ZeroDivisionError):
        scans.scan(source.pk)
    source.refresh_from_db()
    assert state(source) == "failed"
    assert "ZeroDivisionError" in source.report["reason_en"]


def test_the_command_goes_on_with_what_a_killed_run_left_in_work(folder):
    plan = passes.Plan(
        principal=local_operator(),
        reader=FolderReader(folder),
        collection="default",
        chunk_options=SMALL,
        incremental=True,
    )
    passes.Pass(plan, FolderReport()).run()
    assert set(DocumentVersion.objects.values_list("status", flat=True)) == {"stored"}
    report = index_folder(
        principal=local_operator(), folder=folder, collection="default", chunk_options=SMALL, incremental=True
    )
    assert report.unchanged == 3
    assert set(DocumentVersion.objects.values_list("status", flat=True)) == {"ready"}
