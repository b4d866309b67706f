"""Clients that others wrote: list, call, read and prompt over HTTP with a token and over stdio."""

from __future__ import annotations

import os
import sys

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

from tests.conftest import REPOSITORY

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["http", "stdio"])
def transport(request, hub, tmp_path):
    if request.param == "http":
        site = request.getfixturevalue("site")
        return StreamableHttpTransport(f"{site.url}/mcp/hub/", headers=site.headers())
    arguments = [str(REPOSITORY / "manage.py"), "mcp", "hub"]
    return StdioTransport(
        sys.executable, arguments, env={**os.environ, **hub.environment}, keep_alive=False, log_file=tmp_path / "log"
    )


async def test_fastmcp_lists_calls_reads_and_prompts(transport):
    async with Client(transport) as client:
        names = {tool.name for tool in await client.list_tools()}
        counted = await client.call_tool("get_document_count", {})
        items = await client.read_resource("smartreviewer://check-items")
        prompt = await client.get_prompt("review_document_template", {"document_type": "基本設計書"})
    assert {"search", "review_document"} <= names
    assert counted.structured_content["documents"] >= 0
    assert "basic" in items[0].text
    assert "基本設計書" in prompt.messages[0].content.text
