"""Tools of smartreviewer-knowledge on ontologies."""

from __future__ import annotations

from collections.abc import Callable

from mcp_bridge.server import HubServer, HubTool

TOOLS: tuple[HubTool, ...] = ()

PARTS: tuple[Callable[[HubServer], None], ...] = ()
