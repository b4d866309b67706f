"""Watched sources: what a scan takes in, retires, leaves alone and reports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.utils import translation

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from knowledge.documents import passes, sources
from knowledge.documents.reading import count_documents
from knowledge.documents.source_schemas import scan_report_out
from knowledge.documents.uploads import hash_file
from knowledge.models import ChunkVector, Document, DocumentVersion, Source
from knowledge.search.hybrid import search
from knowledge.types.search import SearchQuery
from tests.factories import principal_with, upload_text
from tests.knowledge.documents.source_support import live_paths, run, state, watch, work_off

pytestmark = pytest.mark.django_db


def test_the_first_scan_takes_everything_in_and_the_second_finds_nothing_to_do(source):
    assert run(source) == (3, 0, 0, 0, 0)
    assert state(source) == "completed"
    assert run(source) == (0, 0, 3, 0, 0)
    assert DocumentVersion.objects.count() == 3
    assert source.scanned_at is not None


def test_the_cost_of_a_scan_without_changes_does_not_grow_with_the_number_of_files(
    source, folder, django_assert_num_queries
):
    run(source)
    with django_assert_num_queries(13):
        run(source)
    for number in range(30):
        (folder / f"{number}.md").write_text(f"# 第 {number} 号\n\n本文。\n", encoding="utf-8")
    run(source)
    with django_assert_num_queries(13):
        run(source)


def test_a_changed_file_is_a_new_version_and_only_that_one_is_read(source, folder, monkeypatch):
    run(source)
    read = []
    monkeypatch.setattr(passes, "hash_file", lambda path: (read.append(path.name), hash_file(path))[1])
    (folder / "用語.md").write_text("# 用語\n\nサーバーとは計算機と網をいう。\n", encoding="utf-8")
    assert run(source) == (0, 1, 2, 0, 0)
    assert read == ["用語.md"]


def test_a_file_that_is_gone_is_found_by_no_search_and_no_count_and_its_versions_stay(source, folder):
    run(source)
    work_off()
    before = count_documents(local_operator())
    (folder / "用語.md").unlink()
    assert run(source) == (0, 0, 2, 1, 0)
    assert count_documents(local_operator()) == (before[0] - 1, before[1] - 1)
    found = search(local_operator(), SearchQuery(text="サーバーとは計算機"))
    assert "用語.md" not in {hit.document_path for hit in found.hits}
    retired = Document.objects.get(path="用語.md")
    assert retired.latest_version.content.markdown.startswith("# 用語")
    assert not ChunkVector.objects.filter(chunk__version__document=retired).exists()


def test_a_document_that_is_retired_while_it_is_worked_on_does_not_come_back_into_the_index(source, folder):
    run(source)
    (folder / "用語.md").unlink()
    run(source)
    work_off()
    assert Document.objects.get(path="用語.md").latest_version.status == "retired"
    assert not ChunkVector.objects.filter(chunk__version__document__path="用語.md").exists()


def test_only_documents_of_this_root_are_retired(source, folder, tmp_path):
    other = tmp_path / "別"
    other.mkdir()
    (other / "別の文書.md").write_text("# 別\n\n本文。\n", encoding="utf-8")
    run(watch(other, name="別"))
    upload_text(local_operator(), tmp_path, "# 手で登録\n\n本文。\n", name="手動.md")
    run(source)
    for path in folder.rglob("*.md"):
        path.unlink()
    assert run(source) == (0, 0, 1, 2, 0)
    assert live_paths() == {"議事録.txt", "別の文書.md", "手動.md"}


def test_a_root_that_is_gone_fails_visibly_and_retires_nothing(source, folder):
    run(source)
    folder.rename(folder.with_name("移動"))
    run(source)
    assert state(source) == "failed"
    assert str(folder) in source.report["reason_ja"]
    assert source.report["reason_ja"] != source.report["reason_en"]
    assert len(live_paths()) == 3
    assert source.scanned_at is not None  # it is tried again at its time, not without a pause


def test_an_empty_folder_on_another_disk_retires_nothing(source, folder):
    run(source)
    unmounted = {**source.report, "identity": "0"}
    Source.objects.filter(pk=source.pk).update(report=unmounted)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.unlink()
    run(source)
    assert state(source) == "failed"
    assert len(live_paths()) == 3


def test_a_folder_that_was_emptied_in_place_retires_its_documents(source, folder):
    run(source)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.unlink()
    assert run(source) == (0, 0, 0, 3, 0)


def test_a_folder_inside_that_can_not_be_looked_into_is_named_and_nothing_is_retired(source, folder):
    run(source)
    (folder / "用語.md").unlink()
    _make_too_deep(folder / "深い")
    numbers = run(source)
    assert numbers[3:] == (0, 1)
    assert source.report["failures"][0]["path"].startswith("深い/")
    assert len(live_paths()) == 3


def _make_too_deep(root: Path) -> None:
    """A folder whose path is longer than the system takes: even root can't list it by its path."""
    root.mkdir()
    here = os.open(root, os.O_RDONLY)
    for _level in range(20):
        os.mkdir("あ" * 80, dir_fd=here)
        below = os.open("あ" * 80, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def test_files_that_can_not_be_taken_in_are_named_with_reasons_and_the_others_go_on(source, folder, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_max_upload_bytes": 1024})
    (folder / "大.md").write_text("大" * 1000, encoding="utf-8")
    (folder / "改\n行.md").write_text("# 改行\n", encoding="utf-8")
    os.close(os.open(os.fsencode(folder) + b"/\xff\xfe.md", os.O_CREAT | os.O_WRONLY))
    assert run(source) == (3, 0, 0, 0, 3)
    reasons = {failure["path"]: failure["reason_ja"] for failure in source.report["failures"]}
    assert {"大.md", "改\n行.md", "\\xff\\xfe.md"} == set(reasons)
    assert all(reasons.values())
    with translation.override("en"):
        assert {failure.path for failure in scan_report_out(source.report).failures} == set(reasons)


def test_decomposed_file_names_stay_one_document_and_a_second_spelling_is_refused(source, folder):
    (folder / "か\u3099いよう.md").write_text("# 概要\n\n本文。\n", encoding="utf-8")
    assert run(source) == (4, 0, 0, 0, 0)
    assert run(source) == (0, 0, 4, 0, 0)
    (folder / "がいよう.md").write_text("# 別の概要\n\n本文。\n", encoding="utf-8")
    assert run(source)[3:] == (0, 1)
    assert "がいよう.md" in live_paths()


def test_documents_of_others_and_of_other_sources_are_left_alone(source, folder, tmp_path):
    user = principal_with(Role.CURATOR, Source.objects.get().collection)
    upload_text(user, tmp_path, "# 私の用語\n\n本文。\n", name="用語.md")
    other = tmp_path / "別"
    other.mkdir()
    (other / "議事録.txt").write_text("別の議事録。\n", encoding="utf-8")
    run(watch(other, name="別"))
    assert run(source) == (1, 0, 0, 0, 2)
    assert Document.objects.get(path="用語.md").owner_id == user.user_id
    assert Document.objects.get(path="議事録.txt").source_root == str(other)


def test_documents_follow_their_source_to_a_new_location(source, folder):
    run(source)
    moved = folder.rename(folder.with_name("新しい共有"))
    (moved / "用語.md").unlink()
    sources.update_source(principal=local_operator(), name=source.name, location=str(moved))
    assert run(source) == (0, 0, 2, 1, 0)
    assert DocumentVersion.objects.count() == 3


def test_what_changed_is_in_the_audit_trail_and_a_scan_without_changes_is_not(source):
    run(source)
    run(source)
    event = AuditEvent.objects.get(action="SOURCE_SCANNED")
    assert (event.resource, event.details["new"]) == ("source:共有フォルダー", 3)
