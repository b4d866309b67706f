"""The same files through the command line, REST and a watched folder: identical rows, given the same chunking."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.hub_process import HubProcess, start_hub

# What is stored of each collection: its passages and vectors, without the ids that are drawn at random.
DIGESTS = """
import hashlib, json
from knowledge.models import ChunkVector
fields = ("index", "content", "context_prefix", "section_path", "page", "cell", "start_offset", "end_offset",
          "token_count", "language", "policy_id")
digests = {}
for slug in ("cli", "rest", "watched"):
    rows = ChunkVector.objects.filter(chunk__version__document__collection__slug=slug).order_by(
        "chunk__version__document__path", "chunk__index").values_list(
        "chunk__version__document__path", *["chunk__" + name for name in fields], "vector")
    digest, count = hashlib.sha256(), 0
    for *facts, vector in rows.iterator():
        digest.update(repr((facts, vector)).encode())
        count += 1
    digests[slug] = [count, digest.hexdigest()]
print(json.dumps(digests))
"""


@pytest.fixture
def own_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    hub = start_hub(Path(tmp_path_factory.mktemp("ways")) / "data", "--no-sample")
    yield hub
    if hub.process.poll() is None:
        hub.stop()


@pytest.mark.timeout(200)
def test_twelve_files_make_the_same_rows_whichever_way_they_come(own_hub, tmp_path):
    _compare(own_hub, tmp_path / "規程", files=12, sections=3)


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_a_thousand_files_of_ten_megabytes_make_the_same_rows_whichever_way_they_come(own_hub, tmp_path):
    _compare(own_hub, tmp_path / "規程", files=1000, sections=30)


def _compare(hub: HubProcess, folder: Path, *, files: int, sections: int) -> None:
    _write(folder, files=files, sections=sections)
    for slug in ("cli", "rest", "watched"):
        hub.call("POST", "/collections", json={"slug": slug, "name": slug}).raise_for_status()
    hub.manage("index", "-d", str(folder), "-s", "300", "-o", "60", "--collection", "cli")
    _upload_all(hub, folder)
    _watch(hub, folder, files=files)
    asked = hub.manage("shell", "-v", "0", "-c", DIGESTS, check=False)
    assert asked.returncode == 0, asked.stderr
    digests = json.loads(asked.stdout)
    assert digests["cli"][0] >= files * sections
    assert digests["cli"] == digests["rest"] == digests["watched"]


def _write(folder: Path, *, files: int, sections: int) -> None:
    sentence = "申請者は様式第{n}号を担当課に提出し、担当課は{m}日以内に受理の可否を通知する。"
    for number in range(files):
        place = folder / f"第{number % 7}部"
        place.mkdir(parents=True, exist_ok=True)
        body = "\n\n".join(
            f"## {n}. 手続\n\n" + "".join(sentence.format(n=number + n + k, m=k + 2) for k in range(9))
            for n in range(1, sections + 1)
        )
        (place / f"規程{number:04}.md").write_text(f"# 規程 第{number}号\n\n{body}\n", encoding="utf-8")


def _upload_all(hub: HubProcess, folder: Path) -> None:
    ids = []
    options = {"collection": "rest", "chunk_size": "300", "chunk_overlap": "60", "chunk_unit": "characters"}
    for path in sorted(folder.rglob("*.md")):
        ids.append(hub.upload(path, path=str(path.relative_to(folder)), **options)["document_id"])
    documents = hub.wait_until_finished(*ids, timeout_s=60 + 2 * len(ids))
    assert {document["status"] for document in documents} == {"ready"}


def _watch(hub: HubProcess, folder: Path, *, files: int) -> None:
    chunking = {"strategy": "section", "size": 300, "overlap": 60, "unit": "characters"}
    body = {"name": "規程集", "location": str(folder), "collection": "watched", "chunking": chunking}
    hub.call("POST", "/sources", json=body).raise_for_status()
    deadline = time.monotonic() + 60 + 2 * files
    filters = {"collection": "watched", "status": "ready", "limit": 200}
    while len(hub.call("GET", "/documents", params=filters).json()["items"]) < min(files, 200) or _in_work(hub):
        assert time.monotonic() < deadline, hub.call("GET", "/sources/規程集").json()
        time.sleep(0.3)


def _in_work(hub: HubProcess) -> bool:
    return bool(hub.call("GET", "/jobs").json()["items"])
