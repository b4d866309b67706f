"""Measure what the hub adds to a tool call: a trivial tool of ours beside the bare SDK's echo, over HTTP.

``python -m benchmarks.mcp_echo`` serves both from this process, the hub's with token, scopes, context and the list of
connections, and calls them in turn with the SDK's client. It prints milliseconds of a call (median, and CPU of server
and client together) for both protocol eras, and the ratios. Aim: 2 or less. Uses an embedded PostgreSQL in a scratch
folder.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ERAS = {"2026-07-28": "auto", "handshake": "legacy"}
ROUND = 25  # calls of one server before it is the other's turn, so that both meet the same neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Milliseconds of one call: the median of the wall clock, and the mean of the CPU."""

    wall_ms: float
    cpu_ms: float


def main() -> None:
    """Start a scratch hub, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mcp_echo", description=__doc__)
    parser.add_argument("--calls", type=int, default=200, help="calls of each server and era (default 200)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hub-benchmark-", ignore_cleanup_errors=True) as scratch:
        Path(scratch).chmod(0o711)
        os.environ |= {"HUB_DATA_DIR": scratch, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "hub.settings"}
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        logging.getLogger("httpx2").setLevel("WARNING")  # a line for each request would cost both alike
        asyncio.run(_compare(_token(), arguments.calls))


def _token() -> str:
    from django.contrib.auth.models import User

    from hub.access.principals import ALL_SCOPES, local_operator
    from hub.access.services import create_token

    user = User.objects.create_user("benchmark", is_superuser=True)
    return create_token(principal=local_operator(), user=user, name="benchmark", scopes=ALL_SCOPES)[1]


def echo(text: str) -> str:
    """Give the text back, to see how long that takes: the least that any tool does."""
    return text


async def _compare(token: str, calls: int) -> None:
    write = sys.stdout.write
    write(f"{'era':12} {'server':10} {'median ms':>10} {'CPU ms':>8}\n")
    async with _serving(_bare()) as bare, _serving(_ours()) as ours:
        addresses = {"bare SDK": bare + "/mcp", "hub": ours + "/mcp/core/"}
        for era, mode in ERAS.items():
            found = await _measure(addresses, mode, token, calls)
            for name, one in found.items():
                write(f"{era:12} {name:10} {one.wall_ms:10.2f} {one.cpu_ms:8.2f}\n")
            theirs, mine = found["bare SDK"], found["hub"]
            write(f"{era:12} {'ratio':10} {mine.wall_ms / theirs.wall_ms:10.2f} {mine.cpu_ms / theirs.cpu_ms:8.2f}\n")


def _bare() -> Any:
    from mcp.server.mcpserver import MCPServer

    async def bare_echo(text: str) -> str:
        return echo(text)

    server: MCPServer[Any] = MCPServer("bare", log_level="WARNING")
    server.add_tool(bare_echo, name="echo")
    return server.streamable_http_app()


def _ours() -> Any:
    from dataclasses import replace

    from hub.access.principals import Scope
    from mcp_bridge import servers
    from mcp_bridge.http import McpApps
    from mcp_bridge.server import hub_tool

    async def hub_echo(text: str) -> str:
        """Give the text back."""
        return echo(text)

    tool = hub_tool(hub_echo, title="Echo", scope=Scope.READ, picture="answer")
    tool.tool.name = "echo"
    core = servers.SERVERS["core"]
    servers.SERVERS["core"] = replace(core, tools=(*core.tools, tool))
    apps = McpApps(["core"])

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await apps(scope, receive, send)
            return
        await receive()
        async with apps.running():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    return application


@asynccontextmanager
async def _serving(application: Any) -> AsyncIterator[str]:
    import uvicorn

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = uvicorn.Config(application, port=port, lifespan="on", log_level="warning", timeout_keep_alive=75)
    server = uvicorn.Server(options)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task


async def _measure(addresses: dict[str, str], mode: Any, token: str, calls: int) -> dict[str, Measured]:
    walls: dict[str, list[float]] = {name: [] for name in addresses}
    cpus = dict.fromkeys(addresses, 0.0)
    for _round in range(max(1, calls // ROUND)):
        for name, address in addresses.items():
            async with _client(address, mode, token) as client:
                await client.call_tool("echo", {"text": "温める"})
                began = time.process_time()
                for _call in range(ROUND):
                    started = time.perf_counter()
                    await client.call_tool("echo", {"text": "応答"})
                    walls[name].append(time.perf_counter() - started)
                cpus[name] += time.process_time() - began
    return {
        name: Measured(wall_ms=1000 * statistics.median(walls[name]), cpu_ms=1000 * cpus[name] / len(walls[name]))
        for name in addresses
    }


@asynccontextmanager
async def _client(address: str, mode: Any, token: str) -> AsyncIterator[Any]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


if __name__ == "__main__":
    main()
