"""News of documents and reviews reach those who asked for them and may read them; streams end with the server."""

from __future__ import annotations

import asyncio
from functools import partial

import httpx2
import pytest
from mcp import Client, MCPError

from hub.access.principals import Principal, local_operator
from mcp_bridge import uris
from mcp_bridge.calls import Door
from mcp_bridge.events import EventBridge
from mcp_bridge.servers import build_server
from tests.mcp_bridge.conftest import start_site, stdio_session, stop_site
from tests.mcp_bridge.test_http import INITIALIZE, upload

pytestmark = [
    pytest.mark.anyio,
    # the client's word on resources/subscribe, which servers still owe to clients of older eras
    pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning"),
]
HIDDEN = "smartreviewer://documents/doc_00000000000000000000"
NEWS_WITHIN_S = 20


async def cause_news(client, document: dict) -> str:
    review = await client.call_tool("review_document", {"document_id": document["document_id"]})
    return review.structured_content["resource_uri"]


async def test_a_listener_of_2026_hears_of_a_new_version_made_by_another_client(site):
    async with site.client("core") as client, site.client("hub") as other:
        document = await upload(client, "購読-新.md")
        wanted = [document["resource_uri"], HIDDEN]
        async with client.listen(resource_subscriptions=wanted) as news, asyncio.timeout(NEWS_WITHIN_S):
            await upload(other, "購読-新.md", content="# 改版\n\n## 1 目的\n\n内容を改めた。\n")
            event = await anext(aiter(news))
    assert event.uri == document["resource_uri"]


async def test_a_subscriber_of_the_handshake_eras_hears_of_a_new_version(site):
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: object) -> None:
        if uri := getattr(getattr(message, "params", None), "uri", None):
            heard.put_nowait(str(uri))

    async with site.client("core", mode="legacy", message_handler=on_message) as client, site.client("hub") as other:
        document = await upload(client, "購読-旧.md")
        await client.subscribe_resource(document["resource_uri"])
        async with asyncio.timeout(NEWS_WITHIN_S):
            while heard.empty():  # the standing stream opens beside the first calls
                await upload(
                    other, "購読-旧.md", content=f"# 改版 {heard.qsize()} {asyncio.get_running_loop().time()}\n"
                )
                await asyncio.sleep(0.1)
            uri = await heard.get()
        await client.unsubscribe_resource(document["resource_uri"])
    assert uri == document["resource_uri"]


async def test_what_one_may_not_read_can_not_be_subscribed(site):
    async with site.client("core") as client:
        document = await upload(client, "秘密.md")
    async with site.client("core", owner="stranger", mode="legacy") as stranger:
        for uri in (document["resource_uri"], HIDDEN):
            with pytest.raises(MCPError) as caught:
                await stranger.subscribe_resource(uri)
            assert caught.value.error.code == -32602


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_stdio_server_tells_its_client_of_its_own_work(hub, mode):
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: object) -> None:
        if uri := getattr(getattr(message, "params", None), "uri", None):
            heard.put_nowait(str(uri))

    async with stdio_session(hub.stdio("core"), mode=mode, message_handler=on_message) as client:
        name = f"標準入出力-{mode}.md"
        document = await upload(client, name)
        async with asyncio.timeout(NEWS_WITHIN_S):
            if mode == "legacy":
                await client.subscribe_resource(document["resource_uri"])
                await upload(client, name, content="# 改版\n\n本文。\n")
                uri = await heard.get()
            else:
                async with client.listen(resource_subscriptions=[document["resource_uri"]]) as news:
                    await upload(client, name, content="# 改版\n\n本文。\n")
                    uri = (await anext(aiter(news))).uri
    assert uri == document["resource_uri"]


async def test_open_streams_do_not_keep_a_server_from_stopping(hub, request):
    site = start_site(hub)
    request.addfinalizer(partial(stop_site, site))
    headers = site.headers(Accept="application/json, text/event-stream")
    async with site.client("core") as client, httpx2.AsyncClient(headers=headers, timeout=30) as http:
        document = await upload(client, "停止.md")
        opened = await http.post(site.url + "/mcp/core/", json=INITIALIZE)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}
        async with (
            client.listen(resource_subscriptions=[document["resource_uri"]]) as news,
            http.stream("GET", site.url + "/mcp/core/", headers=session) as stream,
        ):
            site.process.terminate()
            async with asyncio.timeout(NEWS_WITHIN_S):
                assert [event async for event in news] == []  # the server ended it in order
                await stream.aread()
                await asyncio.to_thread(site.process.wait)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_leaves_is_forgotten(mode):
    async def principal() -> Principal:
        return local_operator()

    events = EventBridge()
    server = build_server("core", Door(principal=principal, events=events, is_local=True))
    try:
        async with Client(server, mode=mode) as client:
            if mode == "legacy":
                await client.subscribe_resource(uris.CONFIG)
                assert len(events.bus._listeners) == 1
            else:
                async with client.listen(resource_subscriptions=[uris.CONFIG]):
                    assert len(events.bus._listeners) == 1
        assert len(events.bus._listeners) == 0
    finally:
        await events.aclose()
