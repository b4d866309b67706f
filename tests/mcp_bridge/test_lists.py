"""Lists come in pages: of tools and prompts, and of the resources that a caller may read."""

from __future__ import annotations

import pytest
from mcp import MCPError
from mcp.types import INVALID_PARAMS

from mcp_bridge import lists
from tests.mcp_bridge.test_http import upload
from tests.mcp_bridge.test_servers import client_of

pytestmark = pytest.mark.anyio
ERAS = ("auto", "legacy")


async def all_pages(ask, name: str) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        page = await ask(cursor=cursor)
        pages.append([item.name for item in getattr(page, name)])
        cursor = page.next_cursor
        if cursor is None:
            return pages


@pytest.mark.parametrize("mode", ERAS)
async def test_every_list_can_be_read_page_by_page(mode, monkeypatch):
    async with client_of("hub", mode=mode) as client:
        whole = [tool.name for tool in (await client.list_tools()).tools]
        monkeypatch.setattr(lists, "PAGE_SIZE", 5)
        tools = await all_pages(client.list_tools, "tools")
        prompts = await all_pages(client.list_prompts, "prompts")
        templates = await all_pages(client.list_resource_templates, "resource_templates")
    assert [len(page) for page in tools[:-1]] == [5] * (len(tools) - 1)
    assert [name for page in tools for name in page] == whole
    assert len(prompts[0]) == len(templates[0]) == 5
    assert prompts[1]


async def test_a_cursor_of_another_list_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(lists, "PAGE_SIZE", 5)
    async with client_of("hub") as client:
        cursor = (await client.list_tools()).next_cursor
        for ask, bad in ((client.list_prompts, cursor), (client.list_tools, "x" + cursor)):
            with pytest.raises(MCPError, match="cursor") as caught:
                await ask(cursor=bad)
            assert caught.value.error.code == INVALID_PARAMS


async def test_documents_are_listed_as_resources_to_those_who_may_read_them(site):
    async with site.client("core") as client:
        document = await upload(client, "資源として.md")
        pages = await all_pages(client.list_resources, "resources")
        first = (await client.list_resources()).resources
        listed = next(item for item in first if item.name == "資源として.md")
        read = await client.read_resource(listed.uri)
    async with site.client("core", owner="stranger") as stranger:
        hidden = await all_pages(stranger.list_resources, "resources")
    assert str(listed.uri) == f"smartreviewer://documents/{document['document_id']}"
    assert document["document_id"] in read.contents[0].text
    assert "資源として.md" in [name for page in pages for name in page]
    assert "資源として.md" not in [name for page in hidden for name in page]
    assert pages[0][:2] == hidden[0][:2] == ["check-items", "config"]
