"""Health checks are answered under any name: containers and balancers ask an address and have no name for it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import resolve

PROBES = frozenset({"/healthz", "/readyz"})


class ProbeMiddleware:
    """Answers probes before the Host header is compared with ALLOWED_HOSTS. They make no address of it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info not in PROBES:
            return self._get_response(request)
        request.resolver_match = resolve(request.path_info)
        answer: HttpResponse = request.resolver_match.func(request)
        answer.headers.setdefault("Content-Length", str(len(answer.content)))  # as CommonMiddleware, which comes later
        return answer
