"""REST and MCP refuse the same calls in the same words."""

from __future__ import annotations

import httpx2
import pytest

from tests.mcp_bridge.test_http import upload

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("tool", "arguments", "method", "path", "body"),
    [
        ("search", {"query": "貸出"}, "POST", "/search", {"query": "貸出"}),
        ("answer", {"query": "貸出"}, "POST", "/answer", {"query": "貸出"}),
        ("answer", {"query": "貸出"}, "POST", "/answer", {"query": "貸出", "stream": True}),
        ("graph_search", {"entity": "REQ-001"}, "POST", "/graph/search", {"entity": "REQ-001"}),
        ("list_documents", {}, "GET", "/documents", None),
        ("get_check_items", {}, "GET", "/check-items", None),
    ],
)
async def test_both_doors_refuse_a_filter_that_names_what_is_not_there_or_hidden(
    site, tool, arguments, method, path, body
):
    """The same words and code; what the caller may not see is told like what is not there."""
    names = {"collection": ["nowhere", "default"]} if tool != "get_check_items" else {"document_type": ["nowhere"]}
    ((field, values),) = names.items()
    async with site.client("core") as client:
        await upload(client, "絞り込み.md")  # in the collection "default", which the stranger may not see
    told = set()
    async with site.client("hub", owner="stranger", language="en") as client:
        for value in values:
            refused = await client.call_tool(tool, {**arguments, field: value})
            asked = {"json": {**body, field: value}} if body else {"params": {field: value}}
            headers = site.headers("stranger", **{"Accept-Language": "en"})
            problem = httpx2.request(method, f"{site.url}/api/v1{path}", headers=headers, timeout=60, **asked).json()
            assert refused.is_error, refused.structured_content
            assert refused.content[0].text.startswith(f"{problem['detail']} [{problem['code']}]")
            told.add(refused.content[0].text.replace(value, "NAME"))
    assert len(told) == 1
