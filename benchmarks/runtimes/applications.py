"""The hub as each runtime serves it: factories for uvicorn and granian, and the command that starts uvicorn."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import django
from asgiref.sync import ThreadSensitiveContext

PROBES = ("/healthz", "/readyz", "/metrics")
THREADS, PROBE_THREADS = 16, 3  # as HUB_REQUEST_THREADS, and as hub.site.one_thread has for probes


def request_threads() -> Any:
    """Return the hub as it is."""
    from hub.site.asgi import application

    return application


def django_threads() -> Any:
    """Return the hub with Django's own ASGI handler: a thread for each request, with a connection for 60 s."""
    django.setup(set_prefix=False)
    from django.core.handlers.asgi import ASGIHandler

    handler = ASGIHandler()

    async def in_new_thread(scope: Any, receive: Any, send: Any) -> None:
        executor = ThreadPoolExecutor(1)
        async with ThreadSensitiveContext(executor=executor):  # in place of the one that the hub has set
            await handler(scope, receive, send)
        executor.shutdown(wait=False)

    return _with(in_new_thread)


def a2wsgi() -> Any:
    """Return the hub with Django over WSGI inside of it: REST, admin and probes by a2wsgi, MCP as it is."""
    adapter = import_module("a2wsgi").WSGIMiddleware
    pages, probes = adapter(wsgi(), workers=THREADS), adapter(wsgi(), workers=PROBE_THREADS)

    async def by_path(scope: Any, receive: Any, send: Any) -> None:
        await (probes if scope["path"] in PROBES else pages)(scope, receive, send)

    return _with(by_path)


def wsgi() -> Any:
    """Return Django over WSGI, without MCP; its asynchronous event streams are read in the request's thread."""
    django.setup(set_prefix=False)
    from django.core.handlers.wsgi import WSGIHandler

    class Handler(WSGIHandler):
        def get_response(self, request: Any) -> Any:
            response: Any = super().get_response(request)
            if response.streaming and response.is_async:
                response.streaming_content = _in_this_thread(response._iterator)
            return response

    return Handler()


def _in_this_thread(parts: Any) -> Iterator[bytes]:
    loop = asyncio.new_event_loop()
    try:
        while (part := loop.run_until_complete(anext(parts, None))) is not None:
            yield part.encode() if isinstance(part, str) else part
    finally:
        loop.run_until_complete(parts.aclose())
        loop.close()


def _with(handler: Any) -> Any:
    """Return the hub's application with another handler for everything but MCP."""
    from hub.rest.body_limit import BodyLimit
    from hub.site.asgi import application

    application._django = BodyLimit(handler)
    return application


def main() -> None:
    """Serve one of the factories by uvicorn, with the options of `manage.py web`."""
    import uvicorn

    parser = argparse.ArgumentParser(prog="python -m benchmarks.runtimes.applications")
    parser.add_argument("factory")
    parser.add_argument("port", type=int)
    asked = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    from hub.site.server_options import allow_open_files, server_options

    allow_open_files()
    options = server_options(host="127.0.0.1", port=asked.port)
    uvicorn.run(f"benchmarks.runtimes.applications:{asked.factory}", factory=True, **options)


if __name__ == "__main__":
    main()
