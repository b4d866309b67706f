"""Work that a fault falls into, and the state that a hub must be in when the fault is over."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import requests

from tests.flows.hub_process import HubProcess

SECTIONS = "\n\n".join(
    f"## {n}. 手順\n\n担当者は申請書 {{number}}-{n} を受け付け、内容を確かめて台帳に記入する。" for n in range(1, 9)
)
TEXT = "# 手順書 {number}\n\n" + SECTIONS
STALLED_S = 300


def write_files(folder: Path, count: int, *, first: int = 0) -> list[Path]:
    """Write ``count`` texts that differ from each other."""
    paths = [folder / f"手順{number:03}.md" for number in range(first, first + count)]
    for number, path in enumerate(paths, first):
        path.write_text(TEXT.format(number=number), encoding="utf-8")
    return paths


def upload_all(hub: HubProcess, paths: list[Path]) -> list[str]:
    """Upload each as a careful client does: with a key, again until the hub has taken it; gives the documents' ids."""
    return [upload_until_taken(hub, path) for path in paths]


def upload_until_taken(hub: HubProcess, path: Path) -> str:
    deadline = time.monotonic() + STALLED_S
    while True:
        status, answer = try_upload(hub, path)
        if status in {200, 201, 202}:
            return str(answer["document_id"])
        assert time.monotonic() < deadline, answer
        time.sleep(0.5)


def try_upload(hub: HubProcess, path: Path) -> tuple[int, dict[str, object]]:
    """Upload once; gives the status, 0 where there was no answer, and what was said."""
    try:
        with path.open("rb") as file:
            response = hub.call(
                "POST", "/documents", files={"file": (path.name, file)}, headers={"Idempotency-Key": quote(path.name)}
            )
    except (requests.ConnectionError, requests.Timeout) as error:
        return 0, {"error": str(error)}
    return response.status_code, response.json()


def wait_until_ready(hub: HubProcess) -> None:
    """Wait until every part of the hub answers."""
    deadline = time.monotonic() + STALLED_S
    said = "nothing was asked"
    while time.monotonic() < deadline:
        try:
            response = requests.get(f"{hub.url}/readyz", timeout=10)
            if response.status_code == 200:
                return
            said = response.text
        except (requests.ConnectionError, requests.Timeout) as error:
            said = str(error)
        time.sleep(0.3)
    raise AssertionError(said)


def assert_whole(hub: HubProcess, ids: list[str]) -> None:
    """Everything became ready, once, with all of its passages, and `doctor` finds nothing to repair."""
    documents = hub.wait_until_finished(*ids, stalled_after_s=STALLED_S)
    assert Counter(document["status"] for document in documents) == {"ready": len(ids)}, documents
    assert len(set(ids)) == len(ids)
    for document in documents:
        chunks = hub.call("GET", f"/documents/{document['document_id']}/chunks").json()["items"]
        assert document["version"] == 1
        assert [chunk["chunk_index"] for chunk in chunks] == list(range(document["chunks_count"]))
    doctor = hub.manage("doctor", check=False)
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


@contextmanager
def alert_channel() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A channel for alerts on this machine; gives its ALERT_URLS and what it gets."""
    received: list[dict[str, str]] = []

    class Channel(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Say nothing on the tests' output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Channel)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"json://127.0.0.1:{server.server_port}/alerts", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def wait_for_alert(received: list[dict[str, str]], kind: str, words: str) -> None:
    """Wait until an alert of the kind (failure, success) that has the words was sent."""
    deadline = time.monotonic() + STALLED_S
    while not any(one["type"] == kind and words in one["message"] for one in received):
        assert time.monotonic() < deadline, received
        time.sleep(0.5)


def wait_until_over(received: list[dict[str, str]], words: str) -> None:
    """Wait until it was said that the trouble of these words is over, be it beside others that began."""
    deadline = time.monotonic() + STALLED_S
    while not any(f"解消：{words}" in one["message"] for one in received):
        assert time.monotonic() < deadline, received
        time.sleep(0.5)
