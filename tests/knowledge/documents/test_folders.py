"""Indexing a folder: new, changed, unchanged, gone; without any worker."""

from __future__ import annotations

import zipfile

import pytest

from hub.access.principals import local_operator
from hub.core.errors import InvalidInput
from knowledge.documents.folder_reports import FolderReport
from knowledge.documents.folders import index_folder
from knowledge.documents.uploads import hash_file
from knowledge.models import Document, DocumentVersion
from knowledge.sources import FolderReader
from tests.factories import upload_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "資料"
    (root / "規程").mkdir(parents=True)
    (root / "規程" / "文書管理.md").write_text("# 文書管理規程\n\n文書は 5 年間保存する。\n", encoding="utf-8")
    (root / "用語.csv").write_bytes("用語,説明\nサーバー,計算機\n".encode("cp932"))
    return root


def index(root, *, incremental=False) -> FolderReport:
    return index_folder(
        principal=local_operator(), folder=root, collection="default", chunk_options=None, incremental=incremental
    )


def numbers(report: FolderReport) -> tuple[int, int, int, int, int]:
    return report.new, report.changed, report.unchanged, report.removed, len(report.failures)


def test_the_first_run_takes_everything_in_and_waits_until_it_is_ready(folder):
    assert numbers(index(folder)) == (2, 0, 0, 0, 0)
    assert set(Document.objects.values_list("path", "latest_version__status")) == {
        ("規程/文書管理.md", "ready"),
        ("用語.csv", "ready"),
    }


@pytest.mark.parametrize("incremental", [False, True])
def test_a_second_run_changes_nothing(folder, incremental):
    index(folder)
    assert numbers(index(folder, incremental=incremental)) == (0, 0, 2, 0, 0)
    assert DocumentVersion.objects.count() == 2


def test_an_incremental_run_does_not_read_files_that_look_unchanged(folder, monkeypatch):
    index(folder)
    read = []
    monkeypatch.setattr(
        "knowledge.documents.passes.hash_file", lambda path: (read.append(path.name), hash_file(path))[1]
    )
    (folder / "用語.csv").write_bytes("用語,説明\nサーバー,計算機。\n".encode("cp932"))
    assert numbers(index(folder, incremental=True)) == (0, 1, 1, 0, 0)
    assert read == ["用語.csv"]


def test_a_file_that_is_gone_retires_its_document_and_one_that_returns_comes_back(folder):
    index(folder)
    text = (folder / "用語.csv").read_bytes()
    (folder / "用語.csv").unlink()
    assert numbers(index(folder)) == (0, 0, 1, 1, 0)
    assert Document.objects.get(path="用語.csv").retired_at is not None
    (folder / "用語.csv").write_bytes(text)
    assert numbers(index(folder)) == (0, 0, 2, 0, 0)
    assert Document.objects.get(path="用語.csv").retired_at is None


def test_documents_from_elsewhere_are_not_retired(folder, tmp_path):
    upload_text(local_operator(), tmp_path, "# 手で登録\n\n本文。\n", name="手動.md")
    index(folder)
    assert Document.objects.get(path="手動.md").retired_at is None


def test_a_file_that_fails_is_named_with_its_reason_and_the_others_go_on(folder):
    (folder / "壊れ.docx").write_bytes(b"PK\x03\x04 broken")
    report = index(folder)
    assert numbers(report) == (3, 0, 0, 0, 1)
    path, reason = report.failures[0]
    assert path == "壊れ.docx"
    assert reason


def test_hidden_files_lock_files_and_links_are_passed_over(folder, tmp_path):
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    (folder / "~$文書.docx").write_bytes(b"lock")
    outside = tmp_path / "外.md"
    outside.write_text("# 外\n")
    (folder / "link.md").symlink_to(outside)
    found = FolderReader(folder.resolve()).list_files(lambda: None).files
    assert [file.path for file in found] == ["用語.csv", "規程/文書管理.md"]


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(InvalidInput, match="-d"):
        index(tmp_path / "nowhere")


def zipped(path, **files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.md", text)


@pytest.mark.parametrize("incremental", [False, True])
def test_the_documents_of_a_zip_are_taken_in_kept_and_retired_with_it(folder, incremental):
    zipped(
        folder / "規程" / "別表.zip", 別表1="# 別表1\n\n手数料は 200 円とする。\n", 別表2="# 別表2\n\n様式を定める。\n"
    )
    assert numbers(index(folder, incremental=incremental)) == (4, 0, 0, 0, 0)
    paths = set(Document.objects.values_list("path", flat=True))
    assert {"規程/別表/別表1.md", "規程/別表/別表2.md"} < paths
    assert numbers(index(folder, incremental=incremental)) == (0, 0, 4, 0, 0)

    zipped(folder / "規程" / "別表.zip", 別表1="# 別表1\n\n手数料は 300 円とする。\n")
    assert numbers(index(folder, incremental=incremental)) == (0, 1, 2, 1, 0)
    (folder / "規程" / "別表.zip").write_bytes(b"PK\x03\x04 broken")
    report = index(folder, incremental=incremental)
    assert (report.removed, [path for path, _reason in report.failures]) == (0, ["規程/別表.zip"])
    (folder / "規程" / "別表.zip").unlink()
    assert numbers(index(folder, incremental=incremental)) == (0, 0, 2, 1, 0)
