"""What search and answers cite stands in the documents, to the character, as a client reads it over REST.

With a search engine beside PostgreSQL, too: Qdrant's own engine, in three shards.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.qdrant_facade import qdrant_facade
from tests.flows.hub_process import HubProcess, start_hub

pytestmark = pytest.mark.timeout(600)

OWN = Path(__file__).resolve().parents[1] / "data"
FILES = ("library_design.md", "minutes.txt", "reservation.html", "books.csv")
CITATIONS, SEARCHES, ANSWERS = 200, 36, 16
PLACE = ("document_id", "version", "section_path", "page", "cell", "start_offset", "end_offset", "content")
# Characters, both included.
QUERY_LENGTHS = (8, 40)
MODES = ("hybrid", "vector", "lexical")
FILLED_AFTER_S = 120


@pytest.fixture(scope="module", params=["embedded", pytest.param("qdrant", marks=pytest.mark.long)])
def searched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """A hub, by what its searches ask."""
    if request.param == "embedded":
        yield request.getfixturevalue("hub")
        return
    with _hub_with_engine(Path(tmp_path_factory.mktemp("engine"))) as running:
        yield running


@contextmanager
def _hub_with_engine(folder: Path) -> Iterator[HubProcess]:
    """A hub with an engine, which its searches must have asked when the block ends; see `_ask_engine`."""
    with qdrant_facade() as facade:
        running = start_hub(folder / "data", SEARCH_INDEX="qdrant", QDRANT_URL=facade.url)
        try:
            yield running
        finally:
            running.stop()
        assert sum(one.endswith("/points/query/batch") for one in facade.requests) > SEARCHES


def _ask_engine(hub: HubProcess) -> None:
    """Have the engine filled, and searches ask it."""
    hub.manage("search_index", "create", "--shards", "3")
    deadline = time.monotonic() + FILLED_AFTER_S
    while hub.manage("search_index", "switch", "1", check=False).returncode:
        assert time.monotonic() < deadline, hub.manage("search_index", "list").stdout


@pytest.fixture(scope="module")
def texts(searched: HubProcess) -> Iterator[dict[str, str]]:
    """The stored Markdown of several documents, by id: Markdown, plain text, a web page, a table, and the samples."""
    hub = searched
    hub.call("POST", "/collections", json={"slug": "citations", "name": "引用"}).raise_for_status()
    uploaded = [hub.upload(OWN / name, collection="citations")["document_id"] for name in FILES]
    sample = hub.call("GET", "/documents", params={"collection": "sample"}).json()["items"]
    documents = hub.wait_until_finished(*uploaded, *(one["document_id"] for one in sample))
    assert {one["status"] for one in documents} == {"ready"}
    if hub.settings.get("SEARCH_INDEX"):
        _ask_engine(hub)
    yield {one["document_id"]: _markdown(hub, one["document_id"]) for one in documents}
    for document_id in uploaded:
        hub.call("DELETE", f"/documents/{document_id}").raise_for_status()
    hub.call("DELETE", "/collections/citations").raise_for_status()


def test_200_random_citations_of_searches_are_found_as_they_stand(searched, texts):
    chance = random.Random(4)
    found = [hit for query in _queries(texts, chance, SEARCHES) for hit in _search(searched, query, chance)]
    assert {hit["document_id"] for hit in found} == texts.keys()
    assert {hit["is_context"] for hit in found} == {True, False}
    followed: dict[str, dict[str, Any]] = {}
    for hit in chance.sample(found, CITATIONS):
        assert texts[hit["document_id"]][hit["start_offset"] : hit["end_offset"]] == hit["content"] != ""
        if hit["chunk_id"] not in followed:
            followed[hit["chunk_id"]] = searched.call("GET", f"/chunks/{hit['chunk_id']}").json()
        assert {name: followed[hit["chunk_id"]].get(name) for name in PLACE} == {name: hit[name] for name in PLACE}


def test_quotes_of_answers_are_found_as_they_stand(searched, texts):
    quoted = 0
    for query in _queries(texts, random.Random(5), ANSWERS):
        answer = searched.call("POST", "/answer", json={"query": query})
        assert answer.status_code == 200, answer.text
        for cited in (one for sentence in answer.json()["sentences"] for one in sentence["citations"]):
            if markdown := texts.get(cited["document_id"]):
                assert markdown[cited["start_offset"] : cited["end_offset"]] == cited["quote"] != ""
                quoted += 1
    assert quoted >= ANSWERS // 4  # pieces of documents are no questions: most are answered by nothing


def _markdown(hub: HubProcess, document_id: str) -> str:
    return hub.call("GET", f"/documents/{document_id}/content").content.decode()


def _queries(texts: dict[str, str], chance: random.Random, count: int) -> Iterator[str]:
    """Cut questions out of the documents at random places, in turn; letters and marks as they come."""
    documents = sorted(texts.values())
    for number in range(count):
        text = documents[number % len(documents)]
        length = chance.randint(*QUERY_LENGTHS)
        start = chance.randrange(max(1, len(text) - length))
        # What stands in quotes would have to occur as it is.
        yield text[start : start + length].translate(dict.fromkeys(map(ord, '「」『』"“”'), " ")) + " 受付"


def _search(hub: HubProcess, query: str, chance: random.Random) -> list[dict[str, Any]]:
    # Of passages with the same text one is shown: other tests may have put the same documents elsewhere.
    within = {"collection": ["citations", "sample"]}
    asked = {"query": query, "mode": chance.choice(MODES), "with_context": chance.random() < 0.5, "filter": within}
    response = hub.call("POST", "/search", json=asked)
    assert response.status_code == 200, response.text
    results: list[dict[str, Any]] = response.json()["results"]
    return results
