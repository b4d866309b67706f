"""Django's ASGI handler with every synchronous part of a request in one go.

Under ASGI Django hands each half of each middleware, and the view, to a thread one by one: some twenty changes of
thread for a request, each of which waits for its turn on a busy machine. Here the whole chain is one piece of work;
only what is asynchronous itself, the sending of a stream above all, is awaited outside.

A request takes a thread when all of it is there and gives it back when its answer is made, so that neither a slow
sender nor a slow reader holds one.
"""

from __future__ import annotations

from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.db import close_old_connections, reset_queries
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from hub.core.errors import TooManyAtOnce
from hub.rest.callers import KnownCallers
from hub.rest.middleware import refuse_early
from hub.rest.request_threads import RequestThreads, TooBusy, request_threads

# What a client leaves unread is of use to nobody; all other calls change something and run to their end.
QUESTIONS = frozenset({"/api/v1/search", "/api/v1/answer", "/api/v1/graph/search", "/api/v1/graph/query"})
READING = frozenset({"GET", "HEAD"})
PROBE_WAIT_S = 10


class OneThreadHandler(ASGIHandler):
    """Runs middleware and views as a synchronous server does. There are no asynchronous views, only streams."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)  # not ASGIHandler's own, which does nothing but load the middleware the other way
        self.load_middleware(is_async=False)
        # Signals go to a thread, too, and back before the request begins; so these two are called at its beginning.
        request_started.disconnect(close_old_connections)
        request_started.disconnect(reset_queries)
        # Threads of their own for those who ask whether the hub is well, which a burst must not delay. /healthz has one
        # to itself: it needs no database, and the others may wait for one that is away.
        others = RequestThreads(most=2, wait_s=PROBE_WAIT_S)
        health = RequestThreads(most=1, wait_s=PROBE_WAIT_S)
        self._probes = {"/healthz": health, "/readyz": others, "/metrics": others}
        self._callers = KnownCallers()

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        """Answer one request, in its thread."""
        reset_queries()
        close_old_connections()
        try:
            return super().get_response(request)
        finally:
            self._callers.note(request)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Answer one request, as soon as a thread is free for its caller; 503 or 429 when none is in time."""
        probe = self._probes.get(request.path)
        lent = probe.lend() if probe else request_threads().lend(self._callers.name_of(request))
        try:
            async with lent as thread:
                is_question = request.method in READING or request.path in QUESTIONS
                return await (thread.ask if is_question else thread.run)(self.get_response, request)
        except (TooBusy, TooManyAtOnce) as error:
            return refuse_early(request, error)
