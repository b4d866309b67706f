"""Django's ASGI handler with every synchronous part of a request in one go.

Under ASGI Django hands each half of each middleware, and the view, to a thread one by one: some twenty changes of
thread for a request, each of which waits for its turn on a busy machine. Here the whole chain is one piece of work;
only what is asynchronous itself, the sending of a stream above all, is awaited outside.
"""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.db import close_old_connections, reset_queries
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class OneThreadHandler(ASGIHandler):
    """Runs middleware and views as a synchronous server does; asynchronous views are awaited by the event loop."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)  # not ASGIHandler's own, which does nothing but load the middleware the other way
        self.load_middleware(is_async=False)
        # Signals go to a thread, too, and back before the request begins; so these two are called at its beginning.
        request_started.disconnect(close_old_connections)
        request_started.disconnect(reset_queries)

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        """Answer one request, in its thread."""
        reset_queries()
        close_old_connections()
        return super().get_response(request)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Answer one request."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)
