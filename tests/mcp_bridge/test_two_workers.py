"""Two web processes behind one port: what works anywhere, and what needs the process that holds the session."""

from __future__ import annotations

import asyncio

import pytest
from mcp import MCPError

from tests.mcp_bridge.conftest import start_site, stop_site
from tests.mcp_bridge.test_http import upload

pytestmark = [pytest.mark.anyio, pytest.mark.long, pytest.mark.timeout(600)]
NEWS_WITHIN_S = 60


@pytest.fixture(scope="module")
def two_workers(hub):
    site = start_site(hub, WEB_CONCURRENCY="2")  # how uvicorn is told from outside
    yield site
    stop_site(site)


async def test_clients_of_2026_are_served_by_whichever_process_answers(two_workers):
    async def one() -> bool:
        async with two_workers.client("rag") as client:
            return (await client.call_tool("get_document_count", {})).is_error

    assert await asyncio.gather(*(one() for _ in range(12))) == [False] * 12


async def test_news_cross_from_process_to_process(two_workers):
    async with two_workers.client("core") as client:
        document = await upload(client, "二つのプロセス.md")
        wanted = [document["resource_uri"]]
        heard = 0
        for number in range(4):  # each stream lands on either process, as does each upload
            async with client.listen(resource_subscriptions=wanted) as news, asyncio.timeout(NEWS_WITHIN_S):
                async with two_workers.client("core") as other:
                    await upload(other, "二つのプロセス.md", content=f"# 改版 {number}\n\n内容を改めた。\n")
                heard += (await anext(aiter(news))).uri == wanted[0]
    assert heard == 4


def first_of(error: BaseException) -> BaseException:
    return first_of(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


async def test_a_session_of_the_older_eras_is_known_to_one_process_and_says_so_to_the_other(two_workers):
    async def says() -> str:
        said = "kept"
        try:
            async with two_workers.client("rag", mode="legacy") as client:
                await client.list_tools()
        except* MCPError as group:
            said = str(first_of(group))
        return said

    answers = [await says() for _ in range(6)]
    assert all(answer == "kept" or "Session" in answer for answer in answers), answers  # the sign to initialize again
