"""The headers that tell browsers what an answer may do: CSP, HSTS, Permissions-Policy. On every answer of the hub."""

from __future__ import annotations

from csp.middleware import CSPMiddleware
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from hub.core.asgi import Message, Send

# What is no page can't load, run, send or be framed, should a browser ever show it.
NO_PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HSTS = "max-age=31536000"
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in ("camera", "microphone", "geolocation", "payment", "usb", "serial", "display-capture")
)


def with_security_headers(send: Send, *, scheme: str) -> Send:
    """Give a ``send`` that adds the headers of what is no page to an answer that didn't come from Django."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = message.get("headers", ())
            present = {name.lower() for name, _value in given}
            if not _ON_ALL.keys() <= present:
                wanted = {**_ON_ALL, **(_OVER_TLS if _comes_by_tls(scheme == "https") else {})}
                added = [(name, value) for name, value in wanted.items() if name not in present]
                message = {**message, "headers": [*given, *added]}
        await send(message)

    return send_with_headers


def _comes_by_tls(is_secure: bool) -> bool:
    """Whether clients come by TLS, also where it ends in a proxy before the hub."""
    return is_secure or bool(settings.CONFIG.public_url.startswith("https://"))


_ON_ALL = {
    b"content-security-policy": NO_PAGE_POLICY.encode(),
    b"permissions-policy": PERMISSIONS.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
}
_OVER_TLS = {b"strict-transport-security": HSTS.encode()}


class SecurityHeadersMiddleware(CSPMiddleware):
    """CONTENT_SECURITY_POLICY on pages, a policy that allows nothing on all else; a view's own policy is kept."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add the headers, HSTS where clients come by TLS."""
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        if _comes_by_tls(request.is_secure()):
            response.headers.setdefault("Strict-Transport-Security", HSTS)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            return super().process_response(request, response)
        response.headers.setdefault("Content-Security-Policy", NO_PAGE_POLICY)
        return response
