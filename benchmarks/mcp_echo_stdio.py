"""The servers that :mod:`benchmarks.mcp_echo` compares: the bare SDK's, and the hub's core with a trivial tool more.

``python -m benchmarks.mcp_echo_stdio bare|hub`` serves one of them on stdin and stdout.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer

from benchmarks.mcp_echo import PROCESSOR_TIME


def echo(text: str) -> str:
    """Give the text back, to see how long that takes: the least that any tool does. One question it answers."""
    return str(time.process_time()) if text == PROCESSOR_TIME else text


def bare_server() -> MCPServer[Any]:
    """Make a server of the SDK with nothing of the hub."""

    async def bare_echo(text: str) -> str:
        return echo(text)

    server: MCPServer[Any] = MCPServer("bare", log_level="WARNING")
    server.add_tool(bare_echo, name="echo")
    return server


def add_echo_to_core() -> None:
    """Give the hub's server ``core`` the trivial tool; call it after django.setup()."""
    from dataclasses import replace

    from hub.access.principals import Scope
    from mcp_bridge import servers
    from mcp_bridge.server import hub_tool

    async def hub_echo(text: str) -> str:
        """Give the text back."""
        return echo(text)

    tool = hub_tool(hub_echo, title="Echo", scope=Scope.READ, picture="answer")
    tool.tool.name = "echo"
    core = servers.SERVERS["core"]
    servers.SERVERS["core"] = replace(core, tools=(*core.tools, tool))


def main() -> None:
    """Serve until stdin is closed."""
    if sys.argv[1:] == ["bare"]:
        anyio.run(bare_server().run_stdio_async)
        return
    import django

    django.setup()
    from django.core.management import call_command

    add_echo_to_core()
    call_command("mcp", "core")


if __name__ == "__main__":
    main()
