"""Compressing pages, styles and scripts on their way to a browser.

A secret and what the caller wrote, compressed together, can be guessed from the length (BREACH). In pages the tokens of
forms are masked anew each time by Django, and Django pads what it compresses by a random number of bytes; pages that
show a secret once (a new access token, an authenticator's key, recovery codes) are not compressed, and neither is
anything under /api/ and /mcp/: there are no pages there.
"""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from hub.rest.problems import is_api_call

COMPRESSED = ("text/html", "text/css", "text/javascript", "application/javascript", "image/svg+xml")
SECRET_PAGES = ("/admin/access/accesstoken/", "/admin/second-factor/", "/admin/confirm/", "/admin/login/")


class CompressionMiddleware(GZipMiddleware):
    """Django's, for what browsers show and run, without pages that hold a secret."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the answer where that helps and tells nothing."""
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        is_whole = response.status_code != 206 and "Content-Range" not in response.headers
        if not is_whole or kind not in COMPRESSED or is_api_call(request) or request.path.startswith(SECRET_PAGES):
            return response
        return super().process_response(request, response)
