"""`manage.py mcp`: an MCP server for an assistant that starts it as a program of its own."""

from __future__ import annotations

import logging
from argparse import ArgumentParser

import anyio
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext_lazy as _

from hub.access.services import local_principal
from hub.config import MCP_TOOLSETS
from hub.core.commands import HubCommand, locale_language
from hub.core.embedded import EmbeddedServerError, shared_postgres, shared_valkey
from hub.core.errors import Conflict, Unavailable
from hub.core.measures import flush
from hub.core.processes import REQUESTS, collect_seldom
from mcp_bridge.calls import Door
from mcp_bridge.clients import client_configurations, missing_secrets
from mcp_bridge.events import EventBridge
from mcp_bridge.principal import counted, stdio_principal
from mcp_bridge.servers import SERVERS, build_server
from mcp_bridge.stdio import serve
from mcp_bridge.tokens import TokenLookup
from mcp_bridge.toolsets import read_toolsets

logger = logging.getLogger(__name__)


class Command(HubCommand):
    help = (
        "Serve MCP on stdin and stdout, until stdin is closed. Assistants start it themselves: paste what "
        "--print-config prints into their configuration. Example: manage.py mcp core --print-config"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("server", choices=sorted(SERVERS), help="hub has the tools of all the others")
        parser.add_argument("--language", choices=["ja", "en"], help="of answers and errors (default: the locale's)")
        parser.add_argument(
            "--toolsets",
            default="",
            help=f"what the hub server lists: {', '.join(MCP_TOOLSETS)} (default: HUB_MCP_TOOLSETS)",
        )
        parser.add_argument("--print-config", action="store_true", help="print JSON for assistants, and do not serve")

    def handle(
        self, *, server: str, token: str, language: str | None, toolsets: str, print_config: bool, **options: object
    ) -> None:
        chosen = read_toolsets(toolsets)
        if print_config:
            self._print_config(server, token or settings.CONFIG.hub_token)
            return
        if "stdio" not in settings.CONFIG.mcp_transports:
            raise Conflict(
                _("stdio is switched off: MCP_TRANSPORTS is {given}. Add stdio to it, or use HTTP."),
                given=",".join(settings.CONFIG.mcp_transports),
            )
        _check_migrations()
        local_principal(token)  # refused before the assistant thinks that it has a server
        connections.close_all()
        anyio.run(_serve, server, token, language or locale_language(), chosen)

    def _print_config(self, server: str, token: str) -> None:
        if names := missing_secrets():
            self.stderr.write(
                f"Not printed, and needed by the stdio server too (put them into .env): {', '.join(names)}"
            )
        self.print_json(client_configurations(server, token=token))


async def _serve(name: str, token: str, language: str | None, toolsets: tuple[str, ...]) -> None:
    source = stdio_principal(token, TokenLookup())
    door = Door(
        principal=counted(source),
        follow=lambda: source,
        events=EventBridge(),
        language=language,
        is_local=True,
        toolsets=toolsets,
    )
    server = build_server(name, door)

    def on_leave() -> None:
        flush()  # this process ends without what Python does at an exit
        door.connections.forget()
        _release_servers()

    collect_seldom(REQUESTS)
    async with door.connections.published():
        await serve(server._lowlevel_server, on_end=server.streams.close, on_leave=on_leave)


def _release_servers() -> None:
    """Do what would happen at a normal exit: the last process to use an embedded server stops it."""
    home = settings.HUB_DATA_DIR
    for is_embedded, embedded in (
        (settings.EMBEDDED_DATABASE, shared_postgres(home / "postgres")),
        (settings.EMBEDDED_QUEUE, shared_valkey(home / "valkey")),
    ):
        try:
            if is_embedded:
                embedded.release()
        except EmbeddedServerError as error:
            logger.warning("%s", error)


def _check_migrations() -> None:
    """Raise Unavailable when the database lacks tables or columns that this version needs."""
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        raise Unavailable(
            _("The database is not ready for this version: {count} migrations are missing. Run: manage.py migrate"),
            count=len(missing),
        )
