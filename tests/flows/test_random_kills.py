"""SIGKILL of worker, web, Valkey and PostgreSQL at random moments while files come in: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.flows.hub_process import HubProcess, processes_of

TEXT = (
    "# 受付記録 {number}\n\n申請 {number} を受け付けた。\n\n## 処理\n\n担当者は申請 {number} の内容を台帳に記入した。\n"
)
VICTIMS = ("worker", "web", "valkey", "postgres")
RETRIED = (requests.ConnectionError, requests.Timeout)
# What counts is that nothing is lost, not how long a loaded machine takes: it fails when nothing moves for so long.
STALLED_S = 300


@pytest.mark.timeout(1200)
def test_a_round_of_random_kills_loses_nothing(own_hub, tmp_path):
    _survive(own_hub, tmp_path, rounds=1, uploads=20)


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
    path.write_text(TEXT.format(number=number), encoding="utf-8")
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
