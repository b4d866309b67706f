"""What happens around every request: the call's context, and the checks and headers of REST calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

from hub.core.client_address import address_of
from hub.core.context import PURPOSE_HEADER, CallContext, call_context, purpose_of
from hub.core.errors import Forbidden, HubError, NotFound
from hub.core.ids import new_id
from hub.core.measures import UNKNOWN, count_request
from hub.core.tracing import PARENT_HEADER, Span, span
from hub.rest.callers import known_caller
from hub.rest.errors import MethodNotAllowed
from hub.rest.heads import is_allowed_origin
from hub.rest.problems import is_api_call, problem_response, respond_to_exception
from hub.rest.rate_limits import add_rate_headers

REQUEST_ID_HEADER = "X-Request-ID"
_SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

Handler = Callable[[HttpRequest], HttpResponseBase]


def call_context_of(request: HttpRequest) -> CallContext:
    """Describe the call: REST, or admin for every other page; a sane X-Request-ID of the caller is kept."""
    given = request.headers.get(REQUEST_ID_HEADER, "")
    return CallContext(
        door="rest" if is_api_call(request) else "admin",
        request_id=given if _SANE_REQUEST_ID.fullmatch(given) else new_id("req"),
        address=address_of(request.META.get("REMOTE_ADDR")),
        agent=request.headers.get("User-Agent"),
        purpose=purpose_of(request.headers.get(PURPOSE_HEADER)),
    )


# Of a page that no middleware of pages gives theirs: it has a style and a picture, both of our own.
EARLY_PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class CallContextMiddleware:
    """Makes the call's context current and repeats its request id in the answer."""

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with call_context(call_context_of(request)) as call, _traced(request, call) as traced:
            response = self._get_response(request)
            response[REQUEST_ID_HEADER] = call.request_id
            _count(request, response)
            traced.rename(f"{request.method} {_route(request) or UNKNOWN}")
            traced.note({"http.route": _route(request) or UNKNOWN, "http.response.status_code": response.status_code})
            return response


def refuse_early(request: HttpRequest, error: HubError) -> HttpResponse:
    """Answer a request that no middleware has seen or will see, in the caller's language.

    Browsers get the page of ERROR_PAGE, all others a problem.
    """
    language = translation.get_language_from_request(request)
    with translation.override(language), call_context(call_context_of(request)) as call:
        if is_api_call(request) or "text/html" not in request.headers.get("Accept", ""):
            response = problem_response(request, error)
        else:
            response = _error_page(request, error)
            response["Content-Security-Policy"] = EARLY_PAGE_POLICY
    response[REQUEST_ID_HEADER] = call.request_id
    response["Content-Language"] = language
    _count(request, response)
    return response


def _error_page(request: HttpRequest, error: HubError) -> HttpResponse:
    return cast(HttpResponse, import_string(settings.ERROR_PAGE)(request, error))


def _traced(request: HttpRequest, call: CallContext) -> AbstractContextManager[Span]:
    facts = {"http.request.method": request.method or "", "hub.door": call.door, "hub.request_id": call.request_id}
    return span("request", facts, caller=request.headers.get(PARENT_HEADER))


def _count(request: HttpRequest, response: HttpResponseBase) -> None:
    is_known = known_caller(request) is not None
    count_request(method=request.method or "", route=_route(request), status=response.status_code, is_known=is_known)


def _route(request: HttpRequest) -> str | None:
    return request.resolver_match.route if request.resolver_match else None


class RestMiddleware:
    """Guards REST calls: the Origin check before them; problems, rate headers and no caching after them.

    A refusal of a page, of the home or the administration, is rendered by ERROR_PAGE. It comes after LocaleMiddleware,
    so that both are in the caller's language.
    """

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return _refusal(request) or _finished(request, self._get_response(request))

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """Answer what ninja's own handlers did not see, such as a failure in a view decorator, and refusals of pages.

        What no page expected goes on to Django, which logs it.
        """
        if is_api_call(request):
            return respond_to_exception(request, exception)
        return _error_page(request, exception) if isinstance(exception, HubError) else None


def _refusal(request: HttpRequest) -> HttpResponseBase | None:
    if not is_api_call(request):
        return None
    try:
        check_request(request)
    except HubError as error:
        return problem_response(request, error)
    return None


def check_request(request: HttpRequest) -> None:
    """Refuse a browser page of another site, and a path that no identifier can have.

    :raises Forbidden: the Origin header's host is not in ALLOWED_HOSTS (``null`` never is).
    :raises NotFound: the path has a NUL character, which PostgreSQL can't even compare.
    """
    origin = request.headers.get("Origin")
    if origin is not None and not is_allowed_origin(origin):
        raise Forbidden(
            _("Requests of pages from {origin} are not allowed. Add its host to ALLOWED_HOSTS if they should be."),
            code="origin_not_allowed",
            origin=origin[:200],
        )
    if "\x00" in request.path:
        raise NotFound(_("There is nothing at this address. Check the path and the id."))


def _finished(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if not is_api_call(request):
        return response
    if isinstance(response, HttpResponseNotAllowed):
        response = _method_not_allowed(request, response["Allow"])
    add_rate_headers(request, response)
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def _method_not_allowed(request: HttpRequest, allowed: str) -> HttpResponseBase:
    error = MethodNotAllowed(
        _("{method} is not possible here; allowed: {allowed}."), method=request.method, allowed=allowed
    )
    response = problem_response(request, error)
    response["Allow"] = allowed
    return response
