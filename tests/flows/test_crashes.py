"""kill -9 of anything at work: everything is finished afterwards, nothing twice, nothing to repair by hand.

The quick tests share a hub: each leaves it running, whatever it killed.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.flows.conftest import running_hub
from tests.flows.hub_process import HubProcess, processes_of, start_hub

pytestmark = pytest.mark.timeout(600)

TEXT = "# 手順書 {number}\n\n" + "\n\n".join(
    f"## {n}. 手順\n\n担当者は申請書 {{number}}-{n} を受け付け、内容を確かめて台帳に記入する。" for n in range(1, 9)
)
RECORD = (
    "# 受付記録 {number}\n\n申請 {number} を受け付けた。\n\n## 処理\n\n担当者は申請 {number} の内容を台帳に記入した。\n"
)
VICTIMS = ("worker", "web", "valkey", "postgres")
RETRIED = (requests.ConnectionError, requests.Timeout)
# What counts is that nothing is lost, not how long a loaded machine takes: it fails when nothing moves for so long.
STALLED_S = 300


@pytest.fixture(scope="module")
def killed_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """A hub without the sample for the quick tests here, which may kill what they like."""
    with running_hub(tmp_path_factory) as running:
        yield running


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


def test_the_hub_comes_back_after_its_servers_were_killed_and_keeps_its_data(killed_hub, tmp_path):
    path = tmp_path / "前.md"
    path.write_text("# 前\n\n停止の前に登録した文書。\n", encoding="utf-8")
    before = killed_hub.upload(path)["document_id"]
    killed_hub.wait_until_finished(before)
    _kill_servers(killed_hub)
    _wait_until_answering(killed_hub)
    path = tmp_path / "後.md"
    path.write_text("# 後\n\n復旧の後に登録した文書。\n", encoding="utf-8")
    after = killed_hub.upload(path)["document_id"]
    documents = killed_hub.wait_until_finished(before, after)
    assert {document["status"] for document in documents} == {"ready"}


def _kill_servers(hub: HubProcess) -> None:
    for server in ("postgres", "valkey"):
        (pid,) = processes_of(hub, server)
        os.kill(pid, signal.SIGKILL)


def test_it_stops_within_ten_seconds_leaves_no_process_and_starts_again_with_its_data(killed_hub, tmp_path):
    path = tmp_path / "残る.md"
    path.write_text("# 残る\n\n再起動しても残る文書。\n", encoding="utf-8")
    document_id = killed_hub.upload(path)["document_id"]
    killed_hub.wait_until_finished(document_id)
    seconds = killed_hub.stop()
    # Programs that wait for a core stretch the clock's time; a machine that is not crowded is held to the ten seconds.
    crowding = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert seconds < 10 * crowding
    listing = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(killed_hub.data_dir) not in listing
    again = start_hub(killed_hub.data_dir, "--no-sample")
    killed_hub.process, killed_hub.port, killed_hub.url = again.process, again.port, again.url
    assert again.password == ""
    assert killed_hub.call("GET", f"/documents/{document_id}").json()["status"] == "ready"


@pytest.mark.timeout(1200)
def test_a_round_of_random_kills_loses_nothing(killed_hub, tmp_path):
    _survive(killed_hub, tmp_path, rounds=1, uploads=6)


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
def test_ten_rounds_of_random_kills_during_two_hundred_uploads_lose_nothing(own_hub, tmp_path):
    _survive(own_hub, tmp_path, rounds=10, uploads=200)


def _survive(hub: HubProcess, folder: Path, *, rounds: int, uploads: int) -> None:
    """In each round upload ``uploads`` files, spread over the time in which processes are killed."""
    chance = random.Random(f"{rounds} rounds")
    ids: list[str] = []
    for number in range(1, rounds + 1):
        killer = threading.Thread(target=_kill_all_at_random, args=(hub, chance.random()))
        killer.start()
        while len(ids) < number * uploads:
            ids.append(_upload(hub, folder, len(ids)))
            killer.join(timeout=8 / uploads)
        killer.join()
    _wait_until_answering(hub)
    documents = _wait_for_all(hub, ids)
    assert Counter(document["status"] for document in documents) == {"ready": len(ids)}
    assert len(set(ids)) == len(ids)
    for document in documents:
        answer = hub.call("GET", f"/documents/{document['document_id']}/chunks")
        assert answer.status_code == 200, answer.text
        chunks = answer.json()["items"]
        assert document["version"] == 1
        assert [chunk["chunk_index"] for chunk in chunks] == list(range(document["chunks_count"]))
    doctor = hub.manage("doctor", check=False)
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


def _kill_all_at_random(hub: HubProcess, seed: float) -> None:
    """Kill each of the four once, in a random order with random pauses."""
    chance = random.Random(seed)
    for victim in chance.sample(VICTIMS, len(VICTIMS)):
        time.sleep(chance.uniform(0.2, 2.5))
        for pid in processes_of(hub, victim):
            (os.killpg if victim == "worker" else os.kill)(pid, signal.SIGKILL)


def _upload(hub: HubProcess, folder: Path, number: int) -> str:
    """Upload as a careful client does: with a key, again until there is an answer."""
    path = folder / f"受付{number:04}.md"
    path.write_text(RECORD.format(number=number), encoding="utf-8")
    deadline = time.monotonic() + STALLED_S
    while True:
        answer = _try_upload(hub, path, key=f"upload-{number}")
        if isinstance(answer, str):
            return answer
        assert time.monotonic() < deadline, answer
        time.sleep(0.3)


def _try_upload(hub: HubProcess, path: Path, *, key: str) -> str | tuple[int, str]:
    try:
        with path.open("rb") as file:
            response = hub.call(
                "POST", "/documents", files={"file": (path.name, file)}, headers={"Idempotency-Key": key}
            )
    except RETRIED as error:
        return (0, str(error))
    if response.status_code in {200, 201, 202}:
        return str(response.json()["document_id"])
    assert response.status_code in {409, 429, 503}, response.text
    return (response.status_code, response.text)


def _wait_until_answering(hub: HubProcess) -> None:
    deadline = time.monotonic() + STALLED_S
    while True:
        try:
            if requests.get(f"{hub.url}/readyz", timeout=10).status_code == 200:
                return
        except RETRIED:
            pass
        assert time.monotonic() < deadline, "the hub did not come back"
        time.sleep(0.3)


def _wait_for_all(hub: HubProcess, ids: list[str]) -> list[dict[str, Any]]:
    """Wait until all are finished, however often the work on them broke off."""
    return hub.wait_until_finished(*ids, stalled_after_s=STALLED_S)
