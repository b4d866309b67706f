"""Clients of both eras and transports hear that what they may use has changed, whichever process changed it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress

import httpx2
import pytest
from mcp import MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.subscriptions import ResourcesListChanged, ToolsListChanged

from tests.mcp_bridge.conftest import TestSite, stdio_session
from tests.mcp_bridge.test_http import upload

pytestmark = pytest.mark.anyio
NEWS_WITHIN_S = 30


class Heard:
    """What one connection of the handshake eras is told."""

    def __init__(self) -> None:
        self.methods: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(self, message: object) -> None:
        if method := getattr(message, "method", None):
            self.methods.put_nowait(method)


async def until_its_end(news) -> None:
    async for _event in news:
        pass


async def names_of(client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def test_every_client_of_a_token_hears_that_its_tools_changed_and_nobody_else_does(site, hub, operator):
    hub.tokens["widened"] = token = operator("make", "widened")
    heard = {name: Heard() for name in ("http", "stdio", "other")}
    async with AsyncExitStack() as stack:
        over_stdio = hub.stdio("hub", HUB_TOKEN=token)
        connecting = {
            "http": site.client("hub", owner="widened", mode="legacy", message_handler=heard["http"].on_message),
            "stdio": stdio_session(over_stdio, mode="legacy", message_handler=heard["stdio"].on_message),
            "other": site.client("hub", mode="legacy", message_handler=heard["other"].on_message),
            "http-2026": site.client("hub", owner="widened"),
            "stdio-2026": stdio_session(over_stdio),
        }
        clients = {name: await stack.enter_async_context(client) for name, client in connecting.items()}
        before = {name: await names_of(client) for name, client in clients.items()}
        news = [
            await stack.enter_async_context(clients[name].listen(tools_list_changed=True))
            for name in ("http-2026", "stdio-2026")
        ]
        operator("widen", "widened")
        async with asyncio.timeout(NEWS_WITHIN_S):
            assert [await anext(aiter(stream)) for stream in news] == [ToolsListChanged()] * 2
            for name in ("http", "stdio"):
                assert await heard[name].methods.get() == "notifications/tools/list_changed"
        after = {name: await names_of(client) for name, client in clients.items()}
        capabilities = clients["http"].server_capabilities
    for name in ("http", "stdio", "http-2026", "stdio-2026"):
        assert "search" in after[name] - before[name]
    assert heard["other"].methods.empty()
    assert capabilities.tools.list_changed
    assert capabilities.resources.list_changed


async def test_a_grant_changes_the_list_of_resources_and_its_end_silences_the_document(site, hub, operator):
    hub.tokens["granted"] = operator("make", "granted")
    async with site.client("core") as admin, site.client("core", owner="granted") as client:
        document = await upload(admin, "権限.md")
        async with client.listen(resources_list_changed=True) as lists, asyncio.timeout(2 * NEWS_WITHIN_S):
            operator("grant", "granted")
            assert await anext(aiter(lists)) == ResourcesListChanged()
            assert document["document_id"] in str(await client.list_resources())
            async with client.listen(
                resources_list_changed=True, resource_subscriptions=[document["resource_uri"]]
            ) as news:
                operator("withdraw", "granted")
                assert await anext(aiter(lists)) == ResourcesListChanged()
                assert await anext(aiter(news)) == ResourcesListChanged()
                await upload(admin, "権限.md", content="# 改版\n\n見えない内容。\n")
                operator("grant", "granted")
                assert await anext(aiter(news)) == ResourcesListChanged()  # and nothing of the document before it


async def test_a_revoked_token_ends_the_streams_that_it_opened(site, hub, operator):
    hub.tokens["revoked"] = operator("make", "revoked")
    heard = Heard()
    async with (
        site.client("core", owner="revoked") as client,
        site.client("core", owner="revoked", mode="legacy", message_handler=heard.on_message) as legacy,
    ):
        await legacy.list_tools()
        async with client.listen(tools_list_changed=True) as news, asyncio.timeout(NEWS_WITHIN_S):
            operator("revoke", "revoked")
            with pytest.raises((MCPError, SubscriptionLost)):
                await until_its_end(news)
        async with asyncio.timeout(NEWS_WITHIN_S):
            assert await heard.methods.get() == "notifications/tools/list_changed"


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_an_event_is_not_told_once_its_document_is_hidden(site, hub, operator):
    """Nobody said that rights changed: each event asks. What comes after it is told."""
    hub.tokens["lowered"] = operator("make", "lowered")
    operator("grant", "lowered")
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: object) -> None:
        if uri := getattr(getattr(message, "params", None), "uri", None):
            heard.put_nowait(str(uri))

    async with (
        site.client("core") as admin,
        site.client("core", owner="lowered") as client,
        site.client("core", owner="lowered", mode="legacy", message_handler=on_message) as legacy,
    ):
        hidden, open_one = [await upload(admin, f"静か-{number}.md") for number in (1, 2)]
        uris = [hidden["resource_uri"], open_one["resource_uri"]]
        for uri in uris:
            await legacy.subscribe_resource(uri)
        async with client.listen(resource_subscriptions=uris) as news, asyncio.timeout(2 * NEWS_WITHIN_S):
            operator("classify_higher", hidden["document_id"])
            await upload(admin, "静か-1.md", content="# 改版\n\n見えない内容。\n")
            await upload(admin, "静か-2.md", content="# 改版\n\n見える内容。\n")
            assert (await anext(aiter(news))).uri == open_one["resource_uri"]
            assert await heard.get() == open_one["resource_uri"]


async def test_no_event_is_told_once_a_token_has_ended_by_itself(site, hub, operator):
    hub.tokens["ended"] = operator("make", "ended")
    operator("grant", "ended")
    told: list[object] = []
    async with site.client("core") as admin, site.client("core", owner="ended") as client:
        document = await upload(admin, "終わり.md")
        async with (
            client.listen(resource_subscriptions=[document["resource_uri"]]) as news,
            asyncio.timeout(2 * NEWS_WITHIN_S),
        ):
            operator("end_now", "ended")
            await upload(admin, "終わり.md", content="# 改版\n\n見えない内容。\n")
            with pytest.raises((MCPError, SubscriptionLost)):
                await into(told, news)
    assert told == []


async def into(told: list[object], news) -> None:
    async for event in news:
        told.append(event)


@pytest.mark.parametrize("change", ["leave", "deactivate"])
async def test_a_token_of_before_opens_nothing_more_once_its_owner_left(site, hub, operator, change):
    """At REST, MCP over HTTP of both eras, stdio, and an open stream: what a group gave goes with it."""
    name = f"stale-{change}"
    hub.tokens[name] = token = operator("make", name)
    operator("join", name)
    async with (
        site.client("core") as admin,
        site.client("core", owner=name) as new,
        site.client("core", owner=name, mode="legacy") as old,
        stdio_session(hub.stdio("core", HUB_TOKEN=token)) as local,
    ):
        document = await upload(admin, f"{name}.md")
        clients = (new, old, local)
        for client in clients:
            assert document["document_id"] in str(await client.call_tool("list_documents", {}))
        assert rest_status(site, name, document) == 200
        told: list[object] = []
        async with (
            new.listen(resource_subscriptions=[document["resource_uri"]]) as news,
            asyncio.timeout(60),
        ):
            operator(change, name)
            await upload(admin, f"{name}.md", content="# 改版\n\n見えない内容。\n")
            if change == "deactivate":
                with pytest.raises((MCPError, SubscriptionLost)):
                    await into(told, news)
            else:
                with suppress(TimeoutError, MCPError, SubscriptionLost):
                    async with asyncio.timeout(3):
                        await into(told, news)
        assert document["resource_uri"] not in str(told)
        for client in clients:
            if change == "deactivate":
                with pytest.raises(MCPError):
                    await client.call_tool("list_documents", {})
            else:
                assert document["document_id"] not in str(await client.call_tool("list_documents", {}))
        assert rest_status(site, name, document) == (401 if change == "deactivate" else 404)


def rest_status(site: TestSite, owner: str, document: dict[str, str]) -> int:
    return httpx2.get(f"{site.url}/api/v1/documents/{document['document_id']}", headers=site.headers(owner)).status_code
