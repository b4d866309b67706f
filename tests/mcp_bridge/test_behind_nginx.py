"""Clients of both eras behind our nginx file and two web processes, and what becomes of them when one process dies."""

from __future__ import annotations

import os
import shutil
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.deploy.test_proxies import nginx
from tests.mcp_bridge.conftest import TestHub, TestSite, start_site, stop_site

pytestmark = [pytest.mark.anyio, pytest.mark.long, pytest.mark.timeout(600)]
CALLS = 12


@pytest.fixture
def webs(hub: TestHub) -> Iterator[list[TestSite]]:
    if shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        pytest.skip("nginx is not installed")
    both = [start_site(hub), start_site(hub)]
    yield both
    for one in both:
        if one.process.poll() is None:
            stop_site(one)


@asynccontextmanager
async def client(url: str, folder: Path, hub: TestHub, mode: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {hub.tokens['admin']}"}
    trusted = ssl.create_default_context(cafile=str(folder / "tls.crt"))
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, verify=trusted) as http,
        Client(streamable_http_client(f"{url}/mcp/rag/", http_client=http), mode=mode) as made,
    ):
        yield made


async def answered(one: Client) -> int:
    """How many of so many calls go well."""
    return sum([not (await one.call_tool("get_document_count", {})).is_error for _ in range(CALLS)])


def first_of(error: BaseException) -> BaseException:
    return first_of(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


async def test_a_web_that_dies_ends_its_sessions_and_nothing_else(webs: list[TestSite], hub: TestHub, tmp_path: Path):
    with nginx(tmp_path, [urlsplit(one.url).port or 0 for one in webs]) as url:
        async with client(url, tmp_path, hub, "auto") as modern:
            said = ""
            try:
                async with client(url, tmp_path, hub, "legacy") as older:
                    assert await answered(older) == await answered(modern) == CALLS
                    webs[0].process.kill()
                    webs[0].process.wait()
                    assert await answered(modern) == CALLS
                    await older.call_tool("get_document_count", {})
            except* MCPError as group:
                said = str(first_of(group))
            assert "Session" in said
        async with client(url, tmp_path, hub, "legacy") as anew:
            assert await answered(anew) == CALLS
