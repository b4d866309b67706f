"""Styles, scripts and pictures of pages, which browsers keep for good as long as they are these."""

from __future__ import annotations

from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware

FOR_GOOD = "max-age=31536000, public, immutable"


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # WhiteNoise has no types
    """Serve ``/static/EDITION/NAME``, EDITION being what STATIC_URL names this code's files by, and ``/static/NAME``.

    Of its own edition browsers need not ask again; a refusal (405, 416) is not kept. Another edition's address comes
    from a page of another process, while several are upgraded one after the other: it gets the file that is here, for
    WhiteNoise's minute.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        path = request.path_info
        if not path.startswith(self.static_prefix):
            return self.get_response(request)  # type: ignore[no-any-return]
        name = path.removeprefix(self.static_prefix)
        edition, _slash, rest = name.partition("/")
        file = self.files.get(self.static_prefix + name) or self.files.get(self.static_prefix + rest)
        if file is None:
            return self.get_response(request)  # type: ignore[no-any-return]
        response: HttpResponseBase = self.serve(file, request)
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            response["Cache-Control"] = "no-store"
        elif edition == settings.STATIC_EDITION:
            response["Cache-Control"] = FOR_GOOD
        return response
