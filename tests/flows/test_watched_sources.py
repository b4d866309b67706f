"""Watched folders and `manage.py index` with a whole hub: many files, SIGKILL in the middle."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.flows.hub_process import ROOT, HubProcess, free_port
from tests.flows.test_crashes import kill_worker

pytestmark = pytest.mark.timeout(900)

FILES = 1000


def write_files(root: Path, count: int) -> None:
    root.mkdir(exist_ok=True)
    for number in range(count):
        text = f"# 通達 第 {number} 号\n\n倉庫 {number % 17} の鍵は第 {number % 5} 係が保管する。\n"
        (root / f"通達{number:04}.md").write_text(text, encoding="utf-8")


def wait_for(hub: HubProcess, wanted: Callable[[dict[str, Any]], bool], *, timeout_s: float = 400) -> dict[str, Any]:
    """Poll the source until its report is as wanted."""
    deadline = time.monotonic() + timeout_s
    while True:
        source = hub.call("GET", "/sources/通達集").json()
        if source["report"] and wanted(source["report"]):
            return source["report"]
        assert time.monotonic() < deadline, source
        time.sleep(0.1)


@pytest.mark.long
def test_a_scan_whose_worker_is_killed_is_finished_by_the_next_and_nothing_is_twice(own_hub, tmp_path):
    folder = tmp_path / "通達"
    write_files(folder, 300)
    body = {"name": "通達集", "location": str(folder), "scan_every_minutes": 1}
    assert own_hub.call("POST", "/sources", json=body).status_code == 201
    wait_for(own_hub, lambda report: report["state"] == "running" and report["new"] >= 10)
    kill_worker(own_hub)
    wait_for(own_hub, lambda report: report["state"] == "completed")
    (folder / "通達0000.md").unlink()
    own_hub.call("POST", "/sources/通達集/scan")
    report = wait_for(own_hub, lambda report: report["state"] == "completed" and report["removed"] == 1)
    assert (report["new"], report["changed"], report["unchanged"], report["failed"]) == (0, 0, 299, 0)
    assert count(own_hub) == 299


@pytest.mark.long
def test_a_thousand_files_by_command_killed_in_the_middle_then_once_more_without_changes(tmp_path):
    folder = tmp_path / "通達"
    write_files(folder, FILES)
    hub = HubProcess(data_dir=tmp_path / "data", port=free_port(), process=None)
    hub.manage("migrate")
    with start_index(hub, folder) as first:
        while count(hub) < FILES // 4:
            assert first.poll() is None
            time.sleep(0.5)
        first.kill()
    began = time.monotonic()
    resumed = summary(start_index(hub, folder))
    print(f"after the kill {time.monotonic() - began:.1f} s: {resumed}")  # noqa: T201
    assert resumed["new"] + resumed["unchanged"] == FILES
    began = time.monotonic()
    again = summary(start_index(hub, folder))
    print(f"without changes {time.monotonic() - began:.1f} s")  # noqa: T201
    assert again == {"new": 0, "changed": 0, "unchanged": FILES, "removed": 0, "failed": 0, "failures": []}
    assert count(hub) == FILES
    assert hub.manage("doctor", check=False).returncode == 0


def start_index(hub: HubProcess, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "manage.py", "index", "-d", str(folder), "-i", "--json"]
    return subprocess.Popen(command, cwd=ROOT, env=hub.environment(), stdout=subprocess.PIPE)


def summary(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    out, _err = process.communicate(timeout=800)
    assert process.returncode == 0
    return json.loads(out)


def count(hub: HubProcess) -> int:
    return int(json.loads(hub.manage("count", "--json").stdout)["documents"])
