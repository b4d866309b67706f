"""The data of every release, restored and brought up to this version: all that people had is there."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from tests.flows.hub_process import HubProcess, free_port, start_hub
from tools.release_data import RELEASES, SECRET_KEY, answers_of

pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize("release", sorted(path.parent.name for path in RELEASES.glob("*/answers.json")))
def test_the_data_of_a_release_upgrade_with_everything_kept(release, tmp_path):
    before = json.loads((RELEASES / release / "answers.json").read_text(encoding="utf-8"))
    with tarfile.open(RELEASES / release / "backup.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    hub = HubProcess(tmp_path / "data", free_port(), None, settings={"SECRET_KEY": SECRET_KEY})
    restored = hub.manage("restore", str(tmp_path / "backup"), "--json", check=False)
    facts = json.loads(restored.stdout or "{}")
    assert facts.get("searches_equal", 0) == facts.get("searches"), restored.stderr + restored.stdout
    assert facts["searches"] > 5
    said = hub.manage("doctor", check=False)
    assert said.returncode == 0, said.stdout  # the trail's last lines were sealed, months after they were written
    running = start_hub(Path(hub.data_dir), "--no-sample", SECRET_KEY=SECRET_KEY)
    try:
        running.token = before["token"]
        assert running.password == ""  # the first administrator was kept
        assert answers_of(running, before["document_id"], before["review_id"]) == before
    finally:
        running.stop()
