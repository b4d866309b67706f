"""The ASGI application: Django, and the MCP servers beside it. Served by `manage.py web`."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import django
from asgiref.sync import ThreadSensitiveContext

from hub.core.processes import REQUESTS, WORK, collect_seldom

if threading.current_thread() is threading.main_thread():  # else the process is somebody else's
    gc.set_threshold(*WORK)  # frozen is what is loaded, once it is all there: others may import this, too
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
django.setup(set_prefix=False)
# WhiteNoise sends static files, a few hundred kilobytes at most, from a synchronous iterator.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

# What follows needs the apps to be loaded.
from django.conf import settings  # noqa: E402

import hub.site.urls  # noqa: E402, F401 (every page: before the first request, and before what is loaded is frozen)
from hub.core import tracing  # noqa: E402
from hub.core.asgi import AsgiApp, Receive, Scope, Send  # noqa: E402
from hub.core.client_address import read_forwarded  # noqa: E402
from hub.rest.body_limit import BodyLimit  # noqa: E402
from hub.rest.security_headers import with_security_headers  # noqa: E402
from hub.site.alerts import watched  # noqa: E402
from hub.site.one_thread import OneThreadHandler  # noqa: E402
from hub.site.open_requests import OpenRequests  # noqa: E402
from hub.site.server_options import unguarded_server  # noqa: E402
from mcp_bridge.events import have_queue  # noqa: E402
from mcp_bridge.http import McpApps  # noqa: E402
from mcp_bridge.threads import in_thread  # noqa: E402

logger = logging.getLogger(__name__)

BRIEF_THREADS = 4


class Hub:
    """Requests under /mcp/ go to the MCP servers (unless MCP_TRANSPORTS leaves http out), all others to Django."""

    def __init__(self) -> None:
        # Django's own types are narrower than the specification.
        self._django = BodyLimit(cast(AsgiApp, OneThreadHandler()))
        config = settings.CONFIG
        self._proxies = config.hub_trusted_proxies
        self._mcp = McpApps(conformance=config.hub_mcp_conformance) if "http" in config.mcp_transports else McpApps(())
        # What is left of a request whose answer is made: reading a file piece by piece, closing it.
        self._brief = ThreadPoolExecutor(BRIEF_THREADS, thread_name_prefix="request-end")
        self._requests = OpenRequests(self._answer, on_stop=self._mcp.end_streams)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, or the lifespan of the process."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            read_forwarded(scope, self._proxies)
            await self._requests(scope, receive, with_security_headers(send, scheme=scope["scheme"]))
        else:
            raise ValueError(f"This application does not speak {scope['type']}.")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._mcp.serves(scope["path"]):
            async with ThreadSensitiveContext(executor=self._brief):
                await self._django(scope, receive, send)
            return
        # Without a context of its own, async database calls of all requests would share one thread.
        async with ThreadSensitiveContext():
            await self._mcp(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()  # lifespan.startup
        if unguarded := unguarded_server():
            if settings.CONFIG.hub_env == "production":
                await send({"type": "lifespan.startup.failed", "message": unguarded})
                return
            logger.warning(unguarded)
        await in_thread(have_queue)
        self._requests.watch_signals()
        async with self._mcp.running(), watched():
            if threading.current_thread() is threading.main_thread():
                collect_seldom(REQUESTS)
            await send({"type": "lifespan.startup.complete"})
            await receive()  # lifespan.shutdown
        # the server ends by the signal that stops it, which runs nothing that was registered for a process's end
        await asyncio.to_thread(tracing.stop)
        await send({"type": "lifespan.shutdown.complete"})


application = Hub()
