"""The headers that tell browsers what an answer may do: CSP, HSTS, Permissions-Policy. On every answer of Django's."""

from __future__ import annotations

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
