"""What is refused in front of Django, whose ASGI handler stores a whole body before any middleware."""

from __future__ import annotations

from io import BytesIO

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest

from hub.core.asgi import AsgiApp, Message, Receive, Scope, Send
from hub.core.errors import HubError
from hub.core.temporary import temp_dir
from hub.rest.errors import BadRequest
from hub.rest.heads import check_headers, check_target
from hub.rest.middleware import refuse_early
from hub.rest.uploads import too_large

FORM_OVERHEAD_BYTES = 1024 * 1024  # the other fields of a multipart request, and its boundaries


class BodyLimit:
    """Answers 413 to bodies above HUB_MAX_UPLOAD_BYTES (and 1 MiB for form fields), 400 to heads that can't be read.

    A Content-Length above the limit is refused before anything is read; a body that does not tell its length is
    cut off at the limit. Also makes the temporary folder, which uploads need to be there.
    """

    def __init__(self, app: AsgiApp) -> None:
        self.app = app
        temp_dir()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            check_headers(scope["headers"])
            check_target(scope["path"], scope.get("query_string", b""))
        except BadRequest as error:
            await _refuse(scope, send, error)
            return
        limit = settings.CONFIG.hub_max_upload_bytes + FORM_OVERHEAD_BYTES
        if _declared_length(scope) > limit:
            await _refuse(scope, send, _too_large())
            return
        counted = _CountedBody(receive, limit)
        await self.app(scope, counted.receive, send)
        if counted.is_exceeded:
            await _refuse(scope, send, _too_large())


class _CountedBody:
    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._left = limit

    @property
    def is_exceeded(self) -> bool:
        return self._left < 0

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
        # Django ends a request without an answer when the client is gone; then there is room for ours
        return {"type": "http.disconnect"} if self.is_exceeded else message


def _declared_length(scope: Scope) -> int:
    text = dict(scope["headers"]).get(b"content-length", b"")
    return int(text) if text.isdigit() else 0


def _too_large() -> HubError:
    return too_large(settings.CONFIG.hub_max_upload_bytes)


async def _refuse(scope: Scope, send: Send, error: HubError) -> None:
    request = ASGIRequest({**scope, "query_string": b""}, BytesIO())
    response = refuse_early(request, error)
    response["Content-Length"] = str(len(response.content))
    response["Connection"] = "close"
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
