"""What a user does first, against a real hub: every door takes a document in, every door finds it."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from tests.flows.hub_process import HubProcess

pytestmark = pytest.mark.timeout(600)

OWN = Path(__file__).resolve().parents[1] / "data"


def search(hub: HubProcess, query: str, **more) -> list[dict]:
    response = hub.call("POST", "/search", json={"query": query, **more})
    assert response.status_code == 200, response.text
    return response.json()["results"]


def test_the_hub_is_ready_by_every_part(hub):
    parts = hub.call("GET", "/../../readyz", token="").json()
    assert {name: part["status"] for name, part in parts.items()} == dict.fromkeys(
        ("database", "queue", "storage", "model"), "ok"
    )


def test_the_sample_collection_is_there_and_searchable(hub):
    documents = hub.call("GET", "/documents", params={"collection": "sample"}).json()["items"]
    assert len(documents) == 3
    hub.wait_until_finished(*(document["document_id"] for document in documents))
    hits = search(hub, "暗証番号を続けて間違えたらどうなるか", limit=3)
    assert hits[0]["section_path"][-1] == "4.3 情報セキュリティ"


def test_the_data_folder_is_for_its_owner_only(hub):
    assert stat.S_IMODE(hub.data_dir.stat().st_mode) & 0o066 == 0
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in hub.data_dir.rglob("*") if not path.is_symlink()}
    assert any(path.name.startswith("beat-schedule") for path in modes)
    assert {str(path): oct(mode) for path, mode in modes.items() if mode & 0o077} == {}


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("431_core_datamodel_person.md", "section_path"),
        ("441_core_dataparts_datetime.md", "section_path"),
        ("436_*.docx", "section_path"),
        ("432_*.docx", "section_path"),
        ("438-1_*.xlsx", "cell"),
        ("テーブル定義書_サンプル.xlsx", "cell"),
        ("GIF研修シリーズDSS_L04*.pptx", "page"),
        ("451-1-1_*.pdf", "page"),
        ("451-2-1_*.pdf", "page"),
    ],
)
def test_a_real_document_is_found_by_its_own_words_with_its_place(hub, test_data, pattern, place):
    (path,) = test_data.joinpath("documents").glob(pattern)
    document = hub.upload(path)
    (document,) = hub.wait_until_finished(document["document_id"])
    assert document["status"] == "ready", document["status_reason"]
    chunks = hub.call("GET", f"/documents/{document['document_id']}/chunks", params={"limit": 200}).json()["items"]
    markdown = hub.call("GET", f"/documents/{document['document_id']}/content").content.decode()
    for chunk in chunks:
        assert chunk["content"] == markdown[chunk["start_offset"] : chunk["end_offset"]]
        assert chunk["token_count"] <= 512
    wanted = max(chunks, key=lambda chunk: len(set(chunk["content"])))
    words = " ".join(re.findall(r"[\wー]{3,}", wanted["content"])[:12])
    hits = search(hub, words, limit=5, filter={"document_id": document["document_id"]})
    found = next(hit for hit in hits if hit["chunk_id"] == wanted["chunk_id"])
    assert found[place] == wanted[place]
    assert found[place]


@pytest.mark.parametrize("suffix", ["txt", "html", "csv"])
def test_our_own_small_files_come_in(hub, suffix):
    (path,) = sorted(OWN.glob(f"*.{suffix}"))[:1]
    (document,) = hub.wait_until_finished(hub.upload(path)["document_id"])
    assert document["status"] == "ready"
    assert document["chunks_count"] >= 1


def test_the_same_upload_again_is_unchanged(hub, tmp_path):
    path = tmp_path / "再登録.md"
    path.write_text("# 再登録\n\n同じ内容を二度登録する。\n", encoding="utf-8")
    assert hub.upload(path)["outcome"] == "created"
    assert hub.upload(path)["outcome"] == "unchanged"


def test_the_command_line_takes_in_counts_finds_and_clears(hub, tmp_path):
    folder = tmp_path / "規程"
    folder.mkdir()
    (folder / "旅費.md").write_text("# 旅費規程\n\n宿泊料は一夜につき 9,800 円とする。\n", encoding="utf-8")
    hub.call("POST", "/collections", json={"slug": "rules", "name": "規程"})
    done = hub.manage("index", "-d", str(folder), "--collection", "rules", "--json")
    assert json.loads(done.stdout)["new"] == 1
    assert hub.manage("count", "--collection", "rules").stdout.strip() == "documents 1, chunks 1"
    found = json.loads(hub.manage("search", "宿泊料はいくらか", "--collection", "rules", "--json").stdout)
    assert "9,800 円" in found["results"][0]["content"]
    assert hub.manage("clear", "--collection", "rules", "--yes").stdout.strip() == "documents 1, chunks 1 deleted"
    assert search(hub, "宿泊料", filter={"collection": "rules"}) == []


def test_a_review_runs_in_the_worker_and_its_report_can_be_fetched(hub):
    items = hub.call("GET", "/documents", params={"document_type": "basic_design", "collection": "sample"}).json()
    document_id = items["items"][0]["document_id"]
    started = hub.call("POST", "/reviews", json={"document_id": document_id, "options": {"wait_seconds": 40}})
    assert started.status_code == 202
    review = hub.call("GET", started.headers["Location"].removeprefix("/api/v1")).json()
    assert (review["status"], review["verdict"]) == ("completed", "fail")
    report = hub.call("GET", f"/reviews/{review['review_id']}/report", params={"format": "markdown"})
    assert "FR-006" in report.content.decode()
    events = hub.call("GET", f"/reviews/{review['review_id']}/events").text
    assert '"status": "completed"' in events


def test_review_from_the_command_line_says_by_its_exit_code_what_it_found(hub, tmp_path):
    path = tmp_path / "設計書.md"
    path.write_text("# 基本設計書\n\n## 1. 目的\n\n受付システムの設計を定める。\n", encoding="utf-8")
    done = hub.manage("review", str(path), "--checklist", "basic-design", "--format", "json", check=False)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["verdict"] == "fail"
    requirements = tmp_path / "要件定義書.md"
    requirements.write_text(
        "# 要件定義書\n\n## 3. 機能要件\n\n### FR-101: 受付\n\n申請を受け付ける。\n", encoding="utf-8"
    )
    beside = hub.manage("review", str(path), "--related", str(requirements), "--format", "json", check=False)
    forgotten = [finding["data"].get("identifiers") for finding in json.loads(beside.stdout)["findings"]]
    assert ["FR-101"] in forgotten, beside.stderr
    missing = hub.manage("review", "no-such-file.md", check=False)
    assert missing.returncode == 1
    assert "no-such-file.md" in missing.stderr


def test_doctor_finds_the_hub_healthy(hub):
    done = hub.manage("doctor", "--json", check=False)
    assert json.loads(done.stdout)["healthy"], done.stdout
