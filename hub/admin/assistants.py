"""The page that connects AI assistants: addresses, tokens, what to paste into which client, who is connected."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import redis
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from hub.admin_site.pages import admin_page, principal_of, render_page

# Every process loads the admin, so this page loads the MCP servers only when it is opened: 1.5 s of processor time
# that commands and workers need not pay.
if TYPE_CHECKING:
    from mcp_bridge.clients import Host

DEFAULT_SERVER = "hub"
WAYS: dict[str, str | Promise] = {"http": _("Over HTTP"), "stdio": _("As a program on the hub's own machine (stdio)")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """What to paste into one client's file, for one way of connecting. ``key`` is unique on the page."""

    key: str
    host: Host
    way: str | Promise
    text: str


@admin_page("assistants/", name="hub_assistants")
def assistants_page(request: HttpRequest) -> HttpResponseBase:
    """Show how to connect a client to the server that ``?server=`` names, and who is connected."""
    from mcp_bridge.servers import SERVERS

    asked = request.GET.get("server", "")
    chosen = asked if asked in SERVERS else DEFAULT_SERVER
    return render_page(
        request,
        "admin/hub/assistants.html",
        title=_("AI assistants"),
        chosen=chosen,
        servers=[
            {"name": name, "title": one.title, "url": f"{settings.CONFIG.public_url}/mcp/{name}/"}
            for name, one in SERVERS.items()
        ],
        has_http="http" in settings.CONFIG.mcp_transports,
        snippets=_snippets(chosen),
        **_connections(request),
    )


def _snippets(chosen: str) -> list[Snippet]:
    from mcp_bridge.clients import HOSTS, client_configurations

    return [
        Snippet(
            key=f"{host}-{way}",
            host=HOSTS[host],
            way=WAYS[way],
            text=json.dumps(configuration, ensure_ascii=False, indent=2),
        )
        for host, ways in client_configurations(chosen, token="").items()
        for way, configuration in sorted(ways.items())
    ]


def _connections(request: HttpRequest) -> dict[str, Any]:
    from mcp_bridge.connections import list_connections

    try:
        return {"connections": list_connections(principal_of(request))}
    except redis.RedisError:
        return {"connections": [], "is_unknown": True}
