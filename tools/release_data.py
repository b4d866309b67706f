"""Keep the data of a release, so that later versions are tested to upgrade it.

``python -m tools.release_data`` starts a hub of this code in a folder of its own, has it read and review a document,
backs it up, and writes ``tests/releases/VERSION/``: the backup (``backup.tar.xz``), what the hub answered
(``answers.json``, with the token that it answered), and the release's migrations (``migrations.json``). Run it once,
when the version is tagged; what is there is never written again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
import tempfile
from pathlib import Path

from hub.version import hub_version
from tests.flows.hub_process import HubProcess, start_hub

REPOSITORY = Path(__file__).resolve().parent.parent
RELEASES = REPOSITORY / "tests" / "releases"
DOCUMENT = REPOSITORY / "tests" / "data" / "library_design.md"
QUESTIONS = ("reservation", "予約の上限", "利用者の登録", "バックアップ")
# Of no hub but this one; it proves the fixture's audit trail.
SECRET_KEY = "the-key-of-the-data-of-a-release-which-is-no-secret-at-all"  # noqa: S105


def answers_of(hub: HubProcess, document_id: str, review_id: str) -> dict[str, object]:
    """What the release answers with the token, as an upgrade must answer it too."""
    document = hub.call("GET", f"/documents/{document_id}").json()
    review = hub.call("GET", f"/reviews/{review_id}").json()
    return {
        "token": hub.token,
        "document_id": document_id,
        "review_id": review_id,
        "document": {name: document[name] for name in ("title", "status", "sha256", "chunks_count", "version")},
        "content": hub.call("GET", f"/documents/{document_id}/content").text,
        "verdict": review["verdict"],
        "findings": [[one["rule_id"], one["fingerprint"], one["message"]] for one in review["findings"]],
        "searches": {question: _found(hub, question) for question in QUESTIONS},
    }


def _found(hub: HubProcess, question: str) -> list[list[object]]:
    results = hub.call("POST", "/search", json={"query": question}).json()["results"]
    return [[one["chunk_id"], one["start_offset"], one["end_offset"], one["content"]] for one in results]


def main() -> int:
    """Write the folder of this version; 1 when it is there already."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "").parse_args()
    target = RELEASES / hub_version()
    if target.exists():
        sys.stderr.write(f"{target} is there already: the data of a release stay as they were\n")
        return 1
    with tempfile.TemporaryDirectory() as place:
        hub = start_hub(Path(place) / "data", "--no-sample", SECRET_KEY=SECRET_KEY)
        try:
            document_id = str(hub.upload(DOCUMENT, document_type="basic_design")["document_id"])
            hub.wait_until_finished(document_id)
            asked = {"document_id": document_id, "options": {"wait_seconds": 50}}
            review_id = str(hub.call("POST", "/reviews", json=asked).json()["review_id"])
            answers = answers_of(hub, document_id, review_id)
        finally:
            hub.stop()
        hub.manage("backup", f"{place}/backup", "--no-compression")  # workers that live name their machine
        target.mkdir(parents=True)
        with tarfile.open(target / "backup.tar.xz", "w:xz", preset=9) as archive:
            archive.add(Path(place) / "backup", arcname="backup")
        (manifest,) = (Path(place) / "backup" / "backups").glob("*/manifest.json")
        migrations = json.loads(manifest.read_text(encoding="utf-8"))["migrations"]
    (target / "migrations.json").write_text(json.dumps(migrations) + "\n", encoding="utf-8")
    (target / "answers.json").write_text(json.dumps(answers, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{target}: {sum(path.stat().st_size for path in target.iterdir())} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
