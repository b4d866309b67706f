"""Measure what the hub adds to a tool call: a trivial tool of ours beside the bare SDK's echo, over both transports.

``python -m benchmarks.mcp_echo`` serves both over HTTP from this process, and over stdio from a process each; the hub
with token, scopes, context and the list of connections. It calls them in turn with the SDK's client, and prints the
milliseconds of a call (median, and the processor time of server and client together, which a busy machine distorts
less) for both protocol eras, and the ratios. Aim: 2 or less. Uses an embedded PostgreSQL in a scratch folder; its own
processor time is not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import socket
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.scratch import scratch_hub

ERAS = {"2026-07-28": "auto", "handshake": "legacy"}
PROCESSOR_TIME = "how much processor time have you used?"  # what the echo of benchmarks.mcp_echo_stdio answers
ROUND = 25  # calls of one server before it is the other's turn, so that both meet the same neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Milliseconds of one call: the median of the wall clock, and the mean of the CPU."""

    wall_ms: float
    cpu_ms: float

    def over(self, other: Measured) -> Measured:
        """How many times ``other`` this is."""
        return Measured(wall_ms=self.wall_ms / other.wall_ms, cpu_ms=self.cpu_ms / other.cpu_ms)


Connect = Callable[[Any], AbstractAsyncContextManager[Any]]  # a client of one server, for a protocol era


def main() -> None:
    """Start a scratch hub, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mcp_echo", description=__doc__)
    parser.add_argument("--calls", type=int, default=200, help="calls of each server and era (default 200)")
    arguments = parser.parse_args()
    with scratch_hub():
        logging.getLogger("httpx2").setLevel("WARNING")  # a line for each request would cost both alike
        asyncio.run(_compare(_token(), arguments.calls))


def _token() -> str:
    from django.contrib.auth.models import User

    from hub.access.principals import ALL_SCOPES, local_operator
    from hub.access.services import create_token

    user = User.objects.create_user("benchmark", is_superuser=True)
    return create_token(principal=local_operator(), user=user, name="benchmark", scopes=ALL_SCOPES)[1]


async def _compare(token: str, calls: int) -> None:
    sys.stdout.write(f"{'transport':10} {'era':12} {'server':10} {'median ms':>10} {'CPU ms':>8}\n")
    async with _serving(_bare()) as bare, _serving(_ours()) as ours:
        over_http: dict[str, Connect] = {
            "bare SDK": partial(_http, bare + "/mcp", token),
            "hub": partial(_http, ours + "/mcp/core/", token),
        }
        for era, mode in ERAS.items():
            _print("http", era, await _measure(over_http, mode, calls, is_one_process=True))
    over_stdio: dict[str, Connect] = {"bare SDK": partial(_stdio, "bare", token), "hub": partial(_stdio, "hub", token)}
    for era, mode in ERAS.items():
        _print("stdio", era, await _measure(over_stdio, mode, calls, is_one_process=False))


def _print(transport: str, era: str, found: dict[str, Measured]) -> None:
    rows = dict(found)
    rows["ratio"] = found["hub"].over(found["bare SDK"])
    for name, one in rows.items():
        sys.stdout.write(f"{transport:10} {era:12} {name:10} {one.wall_ms:10.2f} {one.cpu_ms:8.2f}\n")


def _bare() -> Any:
    from benchmarks.mcp_echo_stdio import bare_server

    return bare_server().streamable_http_app()


def _ours() -> Any:
    from benchmarks.mcp_echo_stdio import add_echo_to_core
    from mcp_bridge.http import McpApps

    add_echo_to_core()
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


async def _measure(clients: dict[str, Connect], mode: Any, calls: int, *, is_one_process: bool) -> dict[str, Measured]:
    walls: dict[str, list[float]] = {name: [] for name in clients}
    cpus = dict.fromkeys(clients, 0.0)
    async with AsyncExitStack() as stack:
        connected = {name: await stack.enter_async_context(connect(mode)) for name, connect in clients.items()}
        for client in connected.values():
            await client.call_tool("echo", {"text": "温める"})
        for _round in range(max(1, calls // ROUND)):
            for name, client in connected.items():
                server_began = 0.0 if is_one_process else await _spent(client)
                began = time.process_time()
                for _call in range(ROUND):
                    started = time.perf_counter()
                    await client.call_tool("echo", {"text": "応答"})
                    walls[name].append(time.perf_counter() - started)
                cpus[name] += time.process_time() - began
                cpus[name] += 0.0 if is_one_process else await _spent(client) - server_began
    return {
        name: Measured(wall_ms=1000 * statistics.median(walls[name]), cpu_ms=1000 * cpus[name] / len(walls[name]))
        for name in clients
    }


async def _spent(client: Any) -> float:
    """The processor time in seconds that a server in another process has used."""
    answer = await client.call_tool("echo", {"text": PROCESSOR_TIME})
    return float(answer.content[0].text)


@asynccontextmanager
async def _http(address: str, token: str, mode: Any) -> AsyncIterator[Any]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def _stdio(server: str, token: str, mode: Any) -> AsyncIterator[Any]:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "benchmarks.mcp_echo_stdio", server],
        env={**os.environ, "HUB_TOKEN": token},
    )
    async with Client(stdio_client(command), mode=mode) as client:
        yield client


if __name__ == "__main__":
    main()
