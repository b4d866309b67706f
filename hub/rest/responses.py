"""Answers that are more than a body: 201 and 202 with a Location, and files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.http import content_disposition_header
from ninja.renderers import JSONRenderer
from pydantic import BaseModel

from hub.access.principals import Principal
from hub.access.turns import caller_name
from hub.rest.auth import may_still_have, principal_of
from hub.rest.request_threads import request_threads

# What a browser shows or hands to a program without running anything in it; all else is sent as plain bytes.
SAFE_TYPES = frozenset(
    {
        "application/json",
        "application/pdf",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "image/gif",
        "image/jpeg",
        "image/png",
        "image/webp",
        "text/csv",
        "text/markdown",
        "text/plain",
    }
)


class JsonRenderer(JSONRenderer):
    """JSON as UTF-8: Japanese text stays readable and a third of the size; NaN is a bug, not an answer."""

    json_dumps_params = {"ensure_ascii": False, "allow_nan": False}


def _json_response(
    request: HttpRequest, body: BaseModel | dict[str, Any], *, status: int, location: str
) -> HttpResponse:
    content = JsonRenderer().render(request, body, response_status=status)
    return HttpResponse(content, status=status, content_type="application/json", headers={"Location": location})


def created(request: HttpRequest, *, location: str, body: BaseModel | dict[str, Any]) -> HttpResponse:
    """Answer 201: ``location`` is the path of what was made."""
    return _json_response(request, body, status=201, location=location)


def accepted(request: HttpRequest, *, location: str, body: BaseModel | dict[str, Any]) -> HttpResponse:
    """Answer 202: the work goes on, and ``location`` is the path to poll."""
    return _json_response(request, body, status=202, location=location)


def attachment(
    request: HttpRequest, content: bytes | Iterable[bytes], *, filename: str, content_type: str
) -> HttpResponseBase:
    """Answer with a file to save, under its own name, never shown inside a page of the hub.

    An iterable is streamed and read in a worker thread; types that a browser may run become
    ``application/octet-stream``.
    """
    base_type = content_type.partition(";")[0].strip().lower()
    headers = {
        "Content-Type": content_type if base_type in SAFE_TYPES else "application/octet-stream",
        "Content-Disposition": content_disposition_header(True, filename) or "attachment",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    if isinstance(content, bytes):
        return HttpResponse(content, headers=headers)
    # Django streams sync iterators under WSGI (and in its test client) and async ones under ASGI
    chunks = _in_thread(content) if isinstance(request, ASGIRequest) else content
    return StreamingHttpResponse(chunks, headers=headers)


def server_sent_events(request: HttpRequest, events: Iterable[tuple[str, BaseModel]]) -> StreamingHttpResponse:
    """Answer with an event stream: each event's name, and its data as JSON; the iterable is read in a worker thread.

    It ends before the first event that the caller may not have any more.
    """
    return event_stream(request, events, caller=principal_of(request), may_have=partial(may_still_have, request))


def event_stream(
    request: HttpRequest,
    events: Iterable[tuple[str, BaseModel]],
    *,
    caller: Principal,
    may_have: Callable[[bytes], bool],
) -> StreamingHttpResponse:
    """As `server_sent_events`, for a caller that a session or a token has told; ``may_have`` is asked of each event."""
    lines = _event_lines(events, may_have)
    is_async = isinstance(request, ASGIRequest)
    content = _in_lent_thread(lines, caller_name(caller), translation.get_language()) if is_async else lines
    response = StreamingHttpResponse(content, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response


def _event_lines(
    events: Iterable[tuple[str, BaseModel]], may_have: Callable[[bytes], bool]
) -> Generator[bytes, None, None]:
    for name, body in events:
        line = f"event: {name}\ndata: {body.model_dump_json()}\n\n".encode()
        if not may_have(line):
            return
        yield line


async def _in_thread(content: Iterable[bytes]) -> AsyncIterator[bytes]:
    iterator = iter(content)

    def next_chunk() -> bytes | None:
        return next(iterator, None)

    while (chunk := await sync_to_async(next_chunk)()) is not None:
        yield chunk


async def _in_lent_thread(
    content: Generator[bytes, None, None], caller: str, language: str | None
) -> AsyncGenerator[bytes, None]:
    """Make an answer while it is sent, in one thread, which is not the one that the request began in.

    What is left of it when the client goes away is ended in that thread, too, where its connection to PostgreSQL is.
    """

    def next_chunk() -> bytes | None:
        with translation.override(language):
            return next(content, None)

    async with request_threads().lend(caller, patiently=True) as thread:
        try:
            await thread.run(close_old_connections)
            while (chunk := await thread.ask(next_chunk)) is not None:
                yield chunk
        finally:
            thread.finish(content.close)
