"""The one set of options with which the web server runs, whichever process starts it."""

from __future__ import annotations

import resource
import sys
from typing import Any

from django.conf import settings

APPLICATION = "hub.site.asgi:application"
PROTOCOL = "hub.site.server_protocol:GuardedProtocol"
# Clients forget idle connections after five seconds, as uvicorn would: the first to close breaks the other's request.
KEEP_ALIVE_S = 75
GRACE_S = 3
OTHER_FILES = 512  # connections to PostgreSQL and Valkey, uploads on their way, libraries


def server_options(*, host: str, port: int, log_level: str = "warning") -> dict[str, Any]:
    """What :func:`uvicorn.run` gets, beside the application.

    Forwarded headers are read by the hub itself, from the proxies of HUB_TRUSTED_PROXIES: uvicorn would believe those
    of FORWARDED_ALLOW_IPS, and every process of this machine by default.
    """
    return {
        "host": host,
        "port": port,
        "http": PROTOCOL,
        "ws": "none",
        "lifespan": "on",
        "proxy_headers": False,
        "server_header": False,
        # Else the next request of a connection begins with the context variables of the last one.
        "reset_contextvars": True,
        "timeout_keep_alive": KEEP_ALIVE_S,
        "timeout_graceful_shutdown": GRACE_S,
        "log_level": log_level,
        "log_config": None,  # its lines go where ours go, in the form of LOG_FORMAT
    }


def unguarded_server() -> str:
    """What is missing where another command serves the application; "" where `manage.py web` does."""
    if PROTOCOL.partition(":")[0] in sys.modules:  # the server imports it, in each of its processes
        return ""
    return (
        "The web server runs without the limits of `manage.py web` (HUB_MAX_CONNECTIONS, HUB_BODY_TIMEOUT_S), and may "
        "believe forwarded headers of any program on this machine. Start it with: manage.py web"
    )


def allow_open_files() -> None:
    """Raise the soft limit of open files so that HUB_MAX_CONNECTIONS fit, as far as the hard limit lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.CONFIG.hub_max_connections + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
