"""Many clients search over REST while documents come and go: no failure, nothing deleted, nothing twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.flows.hub_process import HubProcess

QUESTIONS = ("予備品の保管場所はどこか", "予備品", "「予備品」の点検", "spare parts")
STAYING = "".join(
    f"## {number}. 予備品の棚{number}\n\n予備品{number}号は第{number}倉庫に保管し、点検は{number}月に行う。"
    + "保管の温度と湿度は毎日記録し、異常があれば保全係へ知らせる。" * 6
    + "\n\n"
    for number in range(1, 13)
)
PAGE = 3
THINKING_S = 0.05  # between the questions of one client, so that the worker has a turn


@dataclass(kw_only=True)
class Shelf:
    """The documents of one test in a running hub, and when the receipts of those that were deleted came."""

    hub: HubProcess
    folder: Path
    collection: str
    gone: dict[str, float] = field(default_factory=dict)
    is_over: threading.Event = field(default_factory=threading.Event)

    def search(self, text: str, **more: Any) -> dict[str, Any]:
        asked = {"query": text, "collection": self.collection, "limit": 20, **more}
        response = self.hub.call("POST", "/search", json=asked)
        assert response.status_code == 200, response.text
        return dict(response.json())

    def take_in(self, names: list[str], text: str) -> list[str]:
        """Upload files with this text, wait until the worker has made them searchable, and give their ids."""
        ids = []
        for name in names:
            path = self.folder / f"{name}.md"
            path.write_text(text.replace("NAME", name), encoding="utf-8")
            ids.append(self.hub.upload(path, collection=self.collection)["document_id"])
        documents = self.hub.wait_until_finished(*ids)
        assert {document["status"] for document in documents} == {"ready"}
        return ids

    def delete(self, document_id: str) -> None:
        assert self.hub.call("DELETE", f"/documents/{document_id}").status_code == 200
        self.gone[document_id] = time.monotonic()


def search_on(shelf: Shelf, number: int) -> int:
    """Search until it is over; what was deleted before a search began must not be found by it. Gives how many."""
    for done in count():
        if shelf.is_over.wait(THINKING_S):
            return done
        began = time.monotonic()
        found = shelf.search(QUESTIONS[(number + done) % len(QUESTIONS)], with_context=bool(done % 2))
        shown = {hit["document_id"] for hit in found["results"]}
        late = [one for one in shown if shelf.gone.get(one, began) < began]
        assert not late, late
    raise AssertionError


def turn_pages_on(shelf: Shelf, staying: set[str]) -> int:
    """Walk through all pages until it is over: what stays is shown once, nothing twice. Gives how many walks."""
    for done in count():
        if done and shelf.is_over.wait(THINKING_S):
            return done
        chunks = [chunk for page in pages(shelf) for chunk in page]
        assert len(chunks) == len(set(chunks))
        assert staying <= set(chunks)
    raise AssertionError


def pages(shelf: Shelf) -> Iterator[list[str]]:
    cursor = None
    while True:
        page = shelf.search(QUESTIONS[0], limit=PAGE, **({"cursor": cursor} if cursor else {}))
        yield [hit["chunk_id"] for hit in page["results"]]
        cursor = page["next_cursor"]
        if not cursor:
            return


def come_and_go(shelf: Shelf, rounds: int) -> None:
    """Add documents, find them, and delete them again."""
    try:
        for number in range(rounds):
            names = [f"点検票{number}-{one}" for one in range(2)]
            ids = shelf.take_in(names, "# NAME\n\nNAME の予備品は仮置き場に保管する。点検は済んでいる。\n")
            shown = {hit["document_id"] for hit in shelf.search("予備品の仮置き場")["results"]}
            assert set(ids) <= shown
            for document_id in ids:
                shelf.delete(document_id)
    finally:
        shelf.is_over.set()


def run(shelf: Shelf, *, clients: int, rounds: int) -> None:
    shelf.take_in(["予備品台帳"], "# NAME\n\n" + STAYING)
    staying = {chunk for page in pages(shelf) for chunk in page}
    assert len(staying) > 2 * PAGE
    with ThreadPoolExecutor(clients) as pool:
        walkers = [pool.submit(turn_pages_on, shelf, staying) for _ in range(2)]
        searchers = [pool.submit(search_on, shelf, number) for number in range(clients - len(walkers))]
        come_and_go(shelf, rounds)
        done = [future.result() for future in [*walkers, *searchers]]
    assert all(done)
    assert {chunk for page in pages(shelf) for chunk in page} == staying


@pytest.fixture
def shelf(hub: HubProcess, tmp_path: Path) -> Iterator[Shelf]:
    hub.call("POST", "/collections", json={"slug": "spare-parts", "name": "予備品"}).raise_for_status()
    yield Shelf(hub=hub, folder=tmp_path, collection="spare-parts")
    for document in hub.call("GET", "/documents", params={"collection": "spare-parts"}).json()["items"]:
        hub.call("DELETE", f"/documents/{document['document_id']}").raise_for_status()
    hub.call("DELETE", "/collections/spare-parts").raise_for_status()


@pytest.mark.timeout(600)
def test_sixteen_clients_search_while_documents_come_and_go(shelf: Shelf) -> None:
    run(shelf, clients=16, rounds=1)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_fifty_clients_search_while_documents_come_and_go(shelf: Shelf) -> None:
    run(shelf, clients=50, rounds=15)
