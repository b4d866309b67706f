"""kill -9 of anything at work: everything is finished afterwards, nothing twice, nothing to repair by hand."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest

from tests.flows.hub_process import HubProcess, processes_of, start_hub

pytestmark = pytest.mark.timeout(600)

TEXT = "# 手順書 {number}\n\n" + "\n\n".join(
    f"## {n}. 手順\n\n担当者は申請書 {{number}}-{n} を受け付け、内容を確かめて台帳に記入する。" for n in range(1, 9)
)


def processes_below(pid: int, words: str) -> list[int]:
    """The children of a hub whose command line has ``words``."""
    listing = subprocess.run(["ps", "-ewwo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listing.splitlines()[1:]]
    return [int(row[0]) for row in rows if int(row[1]) == pid and words in row[2]]


def kill_worker(hub: HubProcess) -> None:
    """SIGKILL the worker and its pool, as the kernel does when memory runs out."""
    deadline = time.monotonic() + 20
    while not (workers := processes_below(hub.process.pid, "hub.celery worker")):
        assert time.monotonic() < deadline, subprocess.run(["ps", "-ewwo", "pid,ppid,args"], capture_output=True).stdout
    for pid in workers:
        os.killpg(pid, signal.SIGKILL)


@pytest.mark.long
def test_fifty_files_survive_the_death_of_the_worker_without_a_duplicate(own_hub, tmp_path):
    ids = []
    for number in range(50):
        path = tmp_path / f"手順{number:02}.md"
        path.write_text(TEXT.format(number=number), encoding="utf-8")
        ids.append(own_hub.upload(path)["document_id"])
    done_before = _wait_for_some(own_hub)
    kill_worker(own_hub)
    assert done_before < 50
    documents = own_hub.wait_until_finished(*ids, stalled_after_s=200)
    assert {document["status"] for document in documents} == {"ready"}
    for document in documents:
        chunks = own_hub.call("GET", f"/documents/{document['document_id']}/chunks").json()["items"]
        assert len(chunks) == document["chunks_count"]
        assert [chunk["chunk_index"] for chunk in chunks] == list(range(len(chunks)))
    assert own_hub.manage("doctor", check=False).returncode == 0


def _wait_for_some(hub: HubProcess) -> int:
    """Wait until some documents are ready and others are not."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready = len(hub.call("GET", "/documents", params={"status": "ready", "limit": 200}).json()["items"])
        if ready >= 3:
            return ready
        time.sleep(0.1)
    raise AssertionError("nothing became ready")


def test_the_hub_comes_back_after_its_servers_were_killed_and_keeps_its_data(own_hub, tmp_path):
    path = tmp_path / "前.md"
    path.write_text("# 前\n\n停止の前に登録した文書。\n", encoding="utf-8")
    before = own_hub.upload(path)["document_id"]
    own_hub.wait_until_finished(before)
    _kill_servers(own_hub)
    _wait_until_ready(own_hub)
    path = tmp_path / "後.md"
    path.write_text("# 後\n\n復旧の後に登録した文書。\n", encoding="utf-8")
    after = own_hub.upload(path)["document_id"]
    documents = own_hub.wait_until_finished(before, after)
    assert {document["status"] for document in documents} == {"ready"}


def _kill_servers(hub: HubProcess) -> None:
    for server in ("postgres", "valkey"):
        (pid,) = processes_of(hub, server)
        os.kill(pid, signal.SIGKILL)


def _wait_until_ready(hub: HubProcess) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if hub.call("GET", "/../../readyz", token="").status_code == 200:
            return
        time.sleep(0.2)
    raise AssertionError("the hub did not come back")


def test_it_stops_within_ten_seconds_leaves_no_process_and_starts_again_with_its_data(own_hub, tmp_path):
    path = tmp_path / "残る.md"
    path.write_text("# 残る\n\n再起動しても残る文書。\n", encoding="utf-8")
    document_id = own_hub.upload(path)["document_id"]
    own_hub.wait_until_finished(document_id)
    seconds = own_hub.stop()
    # Programs that wait for a core stretch the clock's time; a machine that is not crowded is held to the ten seconds.
    crowding = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert seconds < 10 * crowding
    listing = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(own_hub.data_dir) not in listing
    again = start_hub(own_hub.data_dir, "--no-sample")
    try:
        again.token = own_hub.token
        assert again.password == ""
        assert again.call("GET", f"/documents/{document_id}").json()["status"] == "ready"
    finally:
        again.stop()
