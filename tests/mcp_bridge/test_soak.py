"""Mixed use for a while: clients, cancellations, half-open connections, garbage, bad tokens; nothing may pile up."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import MCPError

from tests.mcp_bridge.conftest import DESIGN, start_site, stop_site

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(900)]

CLIENTS = 6
SLACK = 6  # threads or descriptors that come and go: keep-alive connections, a listener
SETTLED_S = 10.0  # resources of a client that left are free by then
EXPIRED = """
import datetime, django
django.setup()
from django.contrib.auth.models import User
from django.utils import timezone
from hub.access.models import AccessToken
from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
made, text = create_token(
    principal=local_operator(), user=User.objects.get(username="admin"), name="old", scopes=ALL_SCOPES
)
AccessToken.objects.filter(pk=made.pk).update(expires_at=timezone.now() - datetime.timedelta(seconds=1))
print(text)
"""


@pytest.fixture(scope="module")
def own_site(hub):
    site = start_site(hub)
    yield site
    stop_site(site)


@pytest.fixture(scope="module")
def expired(hub) -> str:
    done = subprocess.run([sys.executable, "-c", EXPIRED], env=hub.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def used(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """Threads and open file descriptors (connections are among them) of the server."""
    folder = Path("/proc", str(process.pid))
    if not folder.exists():
        pytest.skip("no /proc to count threads and descriptors in")
    return len(list((folder / "task").iterdir())), len(list((folder / "fd").iterdir()))


async def settled(process: subprocess.Popen[bytes], *, limit: tuple[int, int]) -> tuple[int, int]:
    """What the server holds once it is within ``limit``, or after SETTLED_S."""
    deadline = time.monotonic() + SETTLED_S
    while any(count > bound for count, bound in zip(used(process), limit, strict=True)):
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0.2)
    return used(process)


async def work(site, number: int, seconds: float) -> int:
    """One client after another with mixed calls of both eras; gives the number of answers."""
    answers, ends = 0, time.monotonic() + seconds
    while time.monotonic() < ends:
        async with site.client("hub", mode="legacy" if number % 2 else "auto") as client:
            for _ in range(4):
                assert not (await client.call_tool("search", {"query": f"応答時間 {answers}"})).is_error
                assert (await client.call_tool("search", {"query": 7})).is_error
                with pytest.raises(MCPError):
                    await client.call_tool("nothing", {})
                assert not (await client.call_tool("check_text", {"text": "利用者は出来るだけ早く行う事。"})).is_error
                await cancelled(client)
                answers += 4
    return answers


async def cancelled(client) -> None:
    """A caller that gives up in the middle of a call."""
    call = asyncio.create_task(client.call_tool("search", {"query": "取りやめ"}))
    await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)


async def disturb(site, expired: str, seconds: float) -> None:
    """Half-open connections, bytes that are no HTTP, bodies that are no JSON, and expired tokens."""
    host, port = urlsplit(site.url).netloc.split(":")
    ends = time.monotonic() + seconds
    async with httpx2.AsyncClient(timeout=30) as http:
        while time.monotonic() < ends:
            for beginning in (
                b"",
                b"POST /mcp/core/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{",
                b"\x00\xff\r\n",
            ):
                with socket.create_connection((host, int(port)), timeout=10) as half_open:
                    half_open.sendall(beginning)
            garbage = await http.post(
                f"{site.url}/mcp/core/",
                headers=site.headers(Accept="*/*", **{"Content-Type": "application/json"}),
                content="{",
            )
            stale = await http.post(f"{site.url}/mcp/core/", headers={"Authorization": f"Bearer {expired}"}, json={})
            assert (garbage.status_code, stale.status_code) == (400, 401)
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("seconds", [20, pytest.param(600, marks=pytest.mark.long)])
async def test_mixed_use_neither_crashes_nor_leaks(own_site, expired, seconds):
    async with own_site.client("core") as client:
        await client.call_tool("upload_document", {"content": DESIGN, "filename": "耐久.md"})
    await asyncio.gather(*(work(own_site, number, seconds / 4) for number in range(CLIENTS)))
    before = used(own_site.process)
    results = await asyncio.gather(
        disturb(own_site, expired, 3 * seconds / 4),
        *(work(own_site, number, 3 * seconds / 4) for number in range(CLIENTS)),
    )
    after = await settled(own_site.process, limit=(before[0] + SLACK, before[1] + SLACK))
    assert own_site.process.poll() is None
    assert all(results[1:])
    assert after[0] <= before[0] + SLACK, "threads"
    assert after[1] <= before[1] + SLACK, "connections and files"


async def test_after_a_restart_clients_go_on_by_the_rules_of_their_era(hub):
    first = start_site(hub)
    async with first.client("rag") as modern, first.client("rag", mode="legacy") as legacy:
        for client in (modern, legacy):
            assert not (await client.call_tool("get_document_count", {})).is_error
        stop_site(first)
        second = start_site(hub, port=urlsplit(first.url).port)
        try:
            assert not (await modern.call_tool("get_document_count", {})).is_error
            with pytest.raises(MCPError, match="Session"):  # the sign to initialize again
                await legacy.call_tool("get_document_count", {})
            async with second.client("rag", mode="legacy") as again:
                assert not (await again.call_tool("get_document_count", {})).is_error
        finally:
            stop_site(second)
