"""The headers that tell browsers what an answer may do: CSP, HSTS, Permissions-Policy. On every answer of the hub."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from csp.constants import NONE
from csp.middleware import CSPMiddleware, PolicyParts
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# What is no page can't load, run, send or be framed, should a browser ever show it.
NO_PAGE: dict[str, Any] = {name: [NONE] for name in ("default-src", "base-uri", "form-action", "frame-ancestors")}
HSTS = "max-age=31536000"
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in ("camera", "microphone", "geolocation", "payment", "usb", "serial", "bluetooth", "display-capture")
)

_Message = MutableMapping[str, Any]
_Send = Callable[[_Message], Awaitable[None]]


def with_security_headers(send: _Send, *, scheme: str) -> _Send:
    """Give a ``send`` that adds the headers of what is no page to an answer that didn't come from Django."""

    async def send_with_headers(message: _Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _value in message.get("headers", ())}
            added = [pair for pair in _no_page_headers(scheme == "https") if pair[0] not in present]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return send_with_headers


def _no_page_headers(is_secure: bool) -> list[tuple[bytes, bytes]]:
    policy = "; ".join(f"{name} {' '.join(sources)}" for name, sources in NO_PAGE.items())
    headers = {
        "content-security-policy": policy,
        "permissions-policy": PERMISSIONS,
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
    }
    if is_secure or settings.CONFIG.public_url.startswith("https://"):
        headers["strict-transport-security"] = HSTS
    return [(name.encode(), value.encode()) for name, value in headers.items()]


class SecurityHeadersMiddleware(CSPMiddleware):
    """CONTENT_SECURITY_POLICY on pages, a policy that allows nothing on all else; a view's own policy is kept."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add the headers. HSTS goes wherever clients come by TLS, also where it ends in a proxy before the hub."""
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        if request.is_secure() or settings.CONFIG.public_url.startswith("https://"):
            response.headers.setdefault("Strict-Transport-Security", HSTS)
        return super().process_response(request, response)

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        """Give the policy of the settings for pages, the empty one for all else."""
        parts = super().get_policy_parts(request, response, report_only)
        if not report_only and not response.headers.get("Content-Type", "").startswith("text/html"):
            parts.config = NO_PAGE
        return parts
