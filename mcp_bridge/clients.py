"""Ready-to-paste configuration for MCP hosts."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from hub.config import BASE_DIR
from mcp_bridge.servers import SERVERS

TOKEN_PLACEHOLDER = "YOUR_TOKEN"  # noqa: S105 - what people replace by their own
# Kept out of what is printed: readers of a configuration file should not read passwords in it.
SECRET_SETTINGS = ("DATABASE_URL", "POSTGRES_PASSWORD", "REDIS_URL", "SECRET_KEY")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A program that people use assistants in, and the file of its that names MCP servers."""

    title: str
    file: str


HOSTS = {
    "claude_desktop": Host(title="Claude Desktop", file="claude_desktop_config.json"),
    "vscode": Host(title="VS Code", file=".vscode/mcp.json"),
    "cursor": Host(title="Cursor", file=".cursor/mcp.json"),
    "kiro": Host(title="Kiro", file=".kiro/settings/mcp.json"),
}


def client_configurations(path_name: str, *, token: str) -> dict[str, dict[str, object]]:
    """What to paste into each host's file: {host: {stdio: …, http: …}}, as far as MCP_TRANSPORTS has them on."""
    name = SERVERS[path_name].name
    stdio, http = _stdio_server(path_name, token), _http_server(path_name, token)
    kiro = {"disabled": False, "autoApprove": []}
    hosts: dict[str, dict[str, object]] = {
        "claude_desktop": {"stdio": {"mcpServers": {name: stdio}}},
        "vscode": {
            "stdio": {"servers": {name: {"type": "stdio", **stdio}}},
            "http": {"servers": {name: {"type": "http", **http}}},
        },
        "cursor": {"stdio": {"mcpServers": {name: stdio}}, "http": {"mcpServers": {name: http}}},
        "kiro": {
            "stdio": {"mcpServers": {name: {**stdio, **kiro}}},
            "http": {"mcpServers": {name: {**http, **kiro}}},
        },
    }
    switched_on = settings.CONFIG.mcp_transports
    return {host: {kind: ways[kind] for kind in ways if kind in switched_on} for host, ways in hosts.items()}


def missing_secrets() -> list[str]:
    """Settings that this process has from its environment and that the printed configuration leaves out."""
    return [name for name in SECRET_SETTINGS if os.environ.get(name)]


def _stdio_server(path_name: str, token: str) -> dict[str, Any]:
    environment = {"HUB_DATA_DIR": str(settings.HUB_DATA_DIR)}
    if token:
        environment["HUB_TOKEN"] = token
    return {
        "command": sys.executable,
        "args": [str(BASE_DIR / "manage.py"), "mcp", path_name],
        "env": environment,
    }


def _http_server(path_name: str, token: str) -> dict[str, Any]:
    return {
        "url": f"{settings.CONFIG.public_url}/mcp/{path_name}/",
        "headers": {"Authorization": f"Bearer {token or TOKEN_PLACEHOLDER}"},
    }
