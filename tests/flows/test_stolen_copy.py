"""A copy of the data folder without the key shows no sentence of any document outside the database's own folder."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import docx
import pytest

from hub.core.encryption.key_text import new_key
from hub.core.temporary import MEMORY
from tests.flows.hub_process import ROOT, HubProcess, start_hub
from tests.flows.test_crashes import kill_worker
from tests.migrated import start_from_migrated

pytestmark = pytest.mark.timeout(900)

BEASTS = (("藍", "鷺"), ("茜", "狸"), ("萌黄", "鼬"), ("縹", "鶫"), ("鴇", "獏"), ("鈍", "鶚"))
SENTENCES = tuple(
    f"{color}色の{beast}が第{number}倉庫で{number * 7}回鳴いたことを記録する"
    for number, (color, beast) in enumerate(BEASTS, 311)
)


# The database's own folder, and the embedding model's weights, which are the same everywhere.
NOT_OURS = {"postgres", "models", "static", "given"}


def readings(data: bytes, depth: int = 0) -> Iterator[bytes]:
    """The bytes as they are, and what is compressed in them."""
    yield data
    if depth > 2:
        return
    if data[:4] == b"PK\3\4":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield from readings(archive.read(name), depth + 1)
    for start in (found.start() for found in re.finditer(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08", data)):
        unpacking = zlib.decompressobj(47)
        try:
            yield unpacking.decompress(memoryview(data)[start:], 10_000_000)
        except zlib.error:
            continue


def places(folders: list[Path]) -> dict[str, set[str]]:
    """The files below these folders, but for PostgreSQL's, that show a sentence, and which."""
    shown: dict[str, set[str]] = {}
    for path in (path for folder in folders for path in folder.rglob("*")):
        if not path.is_file() or NOT_OURS & {*path.parts}:
            continue
        for data in readings(path.read_bytes()):
            for sentence, forms in FORMS.items():
                if any(form in data for form in forms):
                    shown.setdefault(str(path), set()).add(sentence)
    return shown


FORMS = {
    sentence: [
        *(sentence.encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be", "cp932", "euc_jp", "unicode_escape")),
        *(sentence[:9].encode(code) for code in ("utf-8", "utf-16-le")),
    ]
    for sentence in SENTENCES
}


def stolen(hub: HubProcess, to: Path) -> list[Path]:
    """Copy all that is on the disk of a running hub, and its log, apart from PostgreSQL's folder."""
    shutil.rmtree(to, ignore_errors=True)
    ignored = shutil.ignore_patterns(*NOT_OURS, "*.sock", "run")
    shutil.copytree(hub.data_dir, to / "data", ignore=ignored, symlinks=True, ignore_dangling_symlinks=True)
    for log in hub.data_dir.parent.glob("*.log"):
        shutil.copy(log, to)
    return [to]


def write_documents(folder: Path) -> list[Path]:
    """Make documents of several formats with a sentence each."""
    paths = [folder / name for name in ("設計.md", "要件.txt", "一覧.csv", "手順.docx")]
    paths[0].write_text(f"# 基本設計\n\n## 1. 概要\n\n{SENTENCES[0]}。\n", encoding="utf-8")
    paths[1].write_text(f"1. 目的\n\n{SENTENCES[1]}。\n", encoding="utf-16")
    paths[2].write_text(f"番号,内容\n1,{SENTENCES[2]}\n", encoding="cp932")
    document = docx.Document()
    document.add_heading("手順書", 1)
    document.add_paragraph(SENTENCES[3] + "。")
    document.save(str(paths[3]))
    return paths


def test_a_copy_of_the_data_folder_shows_no_sentence_of_any_document(tmp_path):
    key, data_dir = new_key(), tmp_path / "data"
    (tmp_path / "given").mkdir()
    paths = write_documents(tmp_path / "given")
    start_from_migrated(data_dir)
    plain = start_hub(data_dir, "--no-sample", LOG_LEVEL="INFO")
    before = [plain.upload(path)["document_id"] for path in paths[:3]]
    plain.wait_until_finished(*before)
    found = set().union(*places(stolen(plain, tmp_path / "copy")).values())
    assert found == set(SENTENCES[:3])  # what is looked for is found where it is plain
    plain.stop()

    hub = start_hub(data_dir, "--no-sample", LOG_LEVEL="DEBUG", ENCRYPTION_KEY=key)
    hub.token = plain.token
    try:
        _use(hub, tmp_path, paths[3], before)
    finally:
        hub.stop()
    assert places([data_dir, *tmp_path.glob("*.log")]) == {}
    assert not [path for path in MEMORY.glob("hub-*") if list(path.glob("process-*/*"))]


def _use(hub: HubProcess, tmp_path: Path, docx_path: Path, before: list[str]) -> None:
    _rotate_and_kill(hub)
    assert hub.manage("encryption", "rotate").returncode == 0
    # the worker dies while it reads
    long = tmp_path / "given" / "長い.md"
    long.write_text(
        f"# 長い\n\n{SENTENCES[4]}。\n\n" + "| 項目 | 値 |\n|---|---|\n" + "| あ | い |\n" * 500, encoding="utf-8"
    )
    ids = [hub.upload(docx_path)["document_id"], hub.upload(long)["document_id"]]
    time.sleep(0.1)
    kill_worker(hub)
    assert places(stolen(hub, tmp_path / "copy")) == {}
    documents = hub.wait_until_finished(*ids)
    assert documents[0]["status"] == "ready"
    # everything that reads, writes and exports
    for sentence in SENTENCES[:5]:
        hub.call("POST", "/search", json={"query": sentence})
        hub.call("POST", "/answer", json={"question": sentence})
    hub.call("POST", "/lint", json={"text": (SENTENCES[5] + "。\n") * 400})
    for document_id in (*before, *ids):
        assert hub.call("GET", f"/documents/{document_id}/file").status_code == 200
        hub.call("GET", f"/documents/{document_id}/content")
    assert SENTENCES[0] in hub.call("GET", f"/documents/{before[0]}/file").text
    review = hub.call("POST", "/reviews", json={"document_id": before[0], "checklist": "basic-design"}).json()
    deadline = time.monotonic() + 120
    while hub.call("GET", f"/reviews/{review['review_id']}").json()["status"] in {"queued", "running"}:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    for form in ("json", "markdown", "html", "xlsx", "docx"):
        assert hub.call("GET", f"/reviews/{review['review_id']}/report", params={"format": form}).status_code == 200
    assert places(stolen(hub, tmp_path / "copy")) == {}
    words = tmp_path / "given" / "words"
    words.write_text("長い合言葉は忘れにくく当てにくい\n", encoding="utf-8")
    hub.manage("backup", str(tmp_path / "backup"), "--encrypt-to", str(words))
    assert places([tmp_path / "backup"]) == {}
    doctor = hub.manage("doctor", check=False).stdout
    assert re.search(r"ok +encryption: stored files: \d+ under key-[0-9a-f]+, 0 plain", doctor), doctor


def _rotate_and_kill(hub: HubProcess) -> None:
    """Start a rotation and kill it as soon as a file was written encrypted."""
    rotation = subprocess.Popen([sys.executable, "manage.py", "encryption", "rotate"], cwd=ROOT, env=hub.environment())
    blobs = hub.data_dir / "blobs"
    files = {path for path in blobs.rglob("*") if path.is_file()}
    while rotation.poll() is None and not {path for path in blobs.rglob("??/??/*") if path.is_file()} - files:
        time.sleep(0.002)
    rotation.kill()
    rotation.wait()
