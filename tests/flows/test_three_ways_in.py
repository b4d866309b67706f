"""The same files through the command line, REST and a watched folder: identical rows, given the same chunking."""

from __future__ import annotations

import json
import logging
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from tests.flows.hub_process import HubProcess

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

# The rows of a document that others hang on, by model.
KEYS = """
import json, os
from knowledge.models import Chunk, Document, DocumentVersion
document = Document.objects.get(public_id=os.environ["document"])
versions = DocumentVersion.objects.filter(document=document)
chunks = Chunk.objects.filter(version__in=versions)
print(json.dumps({"Document": [document.pk], "DocumentVersion": list(versions.values_list("pk", flat=True)),
    "Chunk": list(chunks.values_list("pk", flat=True))}))
"""
# How many rows of any model are, or still point to, one of these.
LEFT = """
import json, os
from django.apps import apps
keys = json.loads(os.environ["keys"])
left = {}
for model in apps.get_models():
    for field in model._meta.concrete_fields:
        name = field.related_model.__name__ if field.is_relation else model.__name__ if field.primary_key else ""
        if name in keys and (count := model.objects.filter(**{field.attname + "__in": keys[name]}).count()):
            left[model.__name__ + "." + field.name] = count
print(json.dumps(left))
"""
# How long a loaded machine takes does not count: it fails when nothing moves for so long.
STALLED_S = 300
logger = logging.getLogger(__name__)


@pytest.mark.timeout(600)
def test_five_files_make_the_same_rows_whichever_way_they_come(own_hub, tmp_path):
    folder = tmp_path / "規程"
    _write(folder, files=5, sections=3)
    _compare(own_hub, folder, files=5, sections=3)


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
def test_a_thousand_files_of_ten_megabytes_make_the_same_rows_whichever_way_they_come(own_hub, tmp_path):
    folder = tmp_path / "規程"
    _write(folder, files=1000, sections=9)
    assert 9_000_000 < sum(path.stat().st_size for path in folder.rglob("*.md")) < 11_000_000
    _compare(own_hub, folder, files=1000, sections=9)
    seconds = _follow_changes(own_hub, folder, files=1000)
    assert seconds <= 5, "processor seconds of a second run that finds nothing new"


def _compare(hub: HubProcess, folder: Path, *, files: int, sections: int) -> None:
    for slug in ("cli", "rest", "watched"):
        hub.call("POST", "/collections", json={"slug": slug, "name": slug}).raise_for_status()
    assert _index(hub, folder) == {"new": files, "changed": 0, "unchanged": 0, "removed": 0, "failed": 0}
    _upload_all(hub, folder)
    _watch(hub, folder)
    digests = _ask(hub, DIGESTS)
    assert digests["cli"][0] >= files * sections
    assert digests["cli"] == digests["rest"] == digests["watched"]


def _follow_changes(hub: HubProcess, folder: Path, *, files: int) -> float:
    """Run the command again after nothing, a change and a removal; gives the processor seconds of the first of these.

    Only what changed is worked on, nothing of a removed file is found, and deleting that one leaves no row of it.
    """
    began, used = time.monotonic(), _processor_seconds()
    assert _index(hub, folder) == {"new": 0, "changed": 0, "unchanged": files, "removed": 0, "failed": 0}
    seconds = _processor_seconds() - used
    logger.info("second run over %s files: %.1f s, of the processor %.1f", files, time.monotonic() - began, seconds)
    changed, removed = folder / "第1部" / "規程0001.md", folder / "第5部" / "規程0005.md"
    changed.write_text(changed.read_text(encoding="utf-8") + "\n附則を加える。\n", encoding="utf-8")
    removed_path = str(removed.relative_to(folder))
    assert removed_path in _found(hub, "規程 第5号")
    removed.unlink()
    assert _index(hub, folder) == {"new": 0, "changed": 1, "unchanged": files - 2, "removed": 1, "failed": 0}
    again = [document["path"] for document in _documents(hub, collection="cli") if document["version"] > 1]
    assert again == [str(changed.relative_to(folder))]
    assert removed_path not in _found(hub, "規程 第5号")
    (gone,) = _documents(hub, collection="cli", status="retired")
    assert gone["path"] == removed_path
    keys = _ask(hub, KEYS, document=gone["document_id"])
    assert keys["Chunk"]
    hub.call("DELETE", f"/documents/{gone['document_id']}").raise_for_status()
    assert _ask(hub, LEFT, keys=json.dumps(keys)) == {}
    return seconds


def _index(hub: HubProcess, folder: Path) -> dict[str, int]:
    """Take the folder in by the command; gives its summary."""
    command = ("index", "-i", "-d", str(folder), "-s", "300", "-o", "60", "--collection", "cli", "--json")
    report = json.loads(hub.manage(*command, timeout_s=3 * 3600).stdout)
    assert report.pop("failures") == []
    return report


def _ask(hub: HubProcess, script: str, **values: str) -> Any:
    """Run a script in the hub's shell and read the JSON that it prints."""
    asked = hub.manage("shell", "-v", "0", "-c", script, check=False, env=values)
    assert asked.returncode == 0, asked.stderr
    return json.loads(asked.stdout)


def _documents(hub: HubProcess, **filters: str) -> list[dict[str, Any]]:
    """All documents that the filters let pass, page by page."""
    page = hub.call("GET", "/documents", params={"limit": "200", **filters}).json()
    found = page["items"]
    while cursor := page["next_cursor"]:
        page = hub.call("GET", "/documents", params={"limit": "200", "cursor": cursor, **filters}).json()
        found += page["items"]
    return found


def _found(hub: HubProcess, query: str) -> set[str]:
    body = {"query": query, "limit": 50, "filter": {"collection": "cli"}, "with_context": False}
    answer = hub.call("POST", "/search", json=body)
    assert answer.status_code == 200, answer.text
    return {result["document_path"] for result in answer.json()["results"]}


def _processor_seconds() -> float:
    """What the commands that have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
    documents = hub.wait_until_finished(*ids, stalled_after_s=STALLED_S)
    assert {document["status"] for document in documents} == {"ready"}


def _watch(hub: HubProcess, folder: Path) -> None:
    chunking = {"strategy": "section", "size": 300, "overlap": 60, "unit": "characters"}
    body = {"name": "規程集", "location": str(folder), "collection": "watched", "chunking": chunking}
    hub.call("POST", "/sources", json=body).raise_for_status()
    files = sum(1 for _ in folder.rglob("*.md"))
    before, deadline = 0, time.monotonic() + STALLED_S
    while (ready := len(_documents(hub, collection="watched", status="ready"))) < files:
        if ready != before:
            before, deadline = ready, time.monotonic() + STALLED_S
        assert time.monotonic() < deadline, hub.call("GET", "/sources/規程集").json()
        time.sleep(0.3)
