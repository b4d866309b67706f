"""Tables of a running hub go away and come back: every door of the search tells it, none breaks, all recover."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from html import unescape

import psycopg
import pytest
import requests
from mcp import MCPError

from hub.core.embedded.postgres import postgres_settings
from knowledge.search.notices import PARTS
from tests.flows.hub_process import HubProcess
from tests.flows.test_four_doors import http_client, signed_in

pytestmark = pytest.mark.timeout(600)
TEXT = "# 点検記録\n\n## 1. 冷却塔\n\n冷却塔の清掃は毎年5月に行う。担当は設備課とする。\n"
QUESTION = "冷却塔の清掃は何月か"
PASSAGE = "冷却塔の清掃は毎年5月に行う"


async def ask_programs(hub: HubProcess) -> list[tuple[bool, set[str]] | str]:
    """Search and answer over REST, and search over MCP: whether something was found and without which parts, or the
    code of the refusal.
    """
    return [
        _told(hub.call("POST", "/search", json={"query": QUESTION}), "results"),
        _told(hub.call("POST", "/answer", json={"query": QUESTION}), "sentences"),
        await _told_by_mcp(hub),
    ]


def shown_page(hub: HubProcess, browser: requests.Session) -> str:
    """The words of the admin's search page."""
    response = browser.get(f"{hub.url}/admin/search/", params={"q": QUESTION}, timeout=30)
    assert response.status_code == 200, response.text[:2000]
    return unescape(re.sub("<[^>]*>", "", response.text))


async def _told_by_mcp(hub: HubProcess) -> tuple[bool, set[str]] | str:
    async with http_client(hub, "auto") as client:
        try:
            result = await client.call_tool("search", {"query": QUESTION})
        except MCPError as error:  # which may pass by itself
            return str(error.data["code"])
    assert not result.is_error, result.content
    found = result.structured_content
    return bool(found["results"]), _parts(found["notices"])


def _told(response: requests.Response, found: str) -> tuple[bool, set[str]] | str:
    facts = response.json()
    if response.status_code == 200:
        return bool(facts[found]), _parts(facts["notices"])
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.status_code == 503, response.text
    return str(facts["code"])


def _parts(notices: list[dict[str, str]]) -> set[str]:
    assert all(notice["ja"] and notice["en"] for notice in notices)
    return {PARTS[notice["code"]] for notice in notices if notice["code"] in PARTS}


def connected(hub: HubProcess) -> psycopg.Connection:
    """Connect to a running hub's database beside it."""
    facts = postgres_settings(hub.data_dir / "postgres")
    address = {"host": facts["HOST"], "port": facts["PORT"], "user": facts["USER"], "dbname": facts["NAME"]}
    return psycopg.connect(**address, autocommit=True)


@contextmanager
def without(hub: HubProcess, *tables: str) -> Iterator[None]:
    """Take tables away from a running hub, and give them back."""
    with connected(hub) as database:
        for table in tables:
            database.execute(f"ALTER TABLE {table} RENAME TO {table}_gone")
        try:
            yield
        finally:
            for table in tables:
                database.execute(f"ALTER TABLE {table}_gone RENAME TO {table}")


@dataclass(frozen=True, kw_only=True)
class Case:
    """Tables that are gone, what programs are told then, and what the admin's page says."""

    tables: tuple[str, ...]
    told: tuple[bool, set[str]] | str
    page: str


CASES = (
    Case(tables=("knowledge_ontologyclass",), told=(True, {"synonyms"}), page="オントロジーが読めないため"),
    Case(tables=("knowledge_chunkvector",), told=(True, {"vector"}), page="ベクトル検索が使えないため"),
    Case(tables=("knowledge_lexicalposting",), told=(True, {"lexical"}), page="全文検索が使えないため"),
    Case(tables=("knowledge_lexicalentry",), told=(True, {"lexical"}), page="全文検索の索引が読めないため"),
    Case(
        tables=("knowledge_chunkvector", "knowledge_lexicalposting"),
        told="search_unavailable",
        page="ベクトル検索も全文検索も応答しませんでした。",
    ),
    Case(tables=("knowledge_embeddingset",), told="not_migrated", page="manage.py migrate"),
)


def test_every_door_tells_what_it_had_to_do_without_and_recovers_by_itself(hub, tmp_path):
    path = tmp_path / "点検記録.md"
    path.write_text(TEXT, encoding="utf-8")
    hub.wait_until_finished(hub.upload(path)["document_id"])
    browser = signed_in(hub)
    assert asyncio.run(ask_programs(hub)) == [(True, set())] * 3
    for case in CASES:
        with without(hub, *case.tables):
            assert asyncio.run(ask_programs(hub)) == [case.told] * 3, case
            page = shown_page(hub, browser)
        assert case.page in page
        assert (PASSAGE in page) == isinstance(case.told, tuple)
    assert asyncio.run(ask_programs(hub)) == [(True, set())] * 3
    assert PASSAGE in shown_page(hub, browser)


def test_a_hub_whose_database_has_no_free_connection_stays_up_and_answers_again(hub):
    with ExitStack() as held:
        for _connection in range(1000):
            try:
                held.enter_context(connected(hub))
            except psycopg.OperationalError:
                break
        began = time.monotonic()
        while time.monotonic() < began + 2.5:  # the supervisor looks after the database every second
            assert hub.call("POST", "/search", json={"query": QUESTION}).status_code in {200, 503}
            assert hub.process.poll() is None
    assert hub.call("POST", "/search", json={"query": QUESTION}).status_code == 200
