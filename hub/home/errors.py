"""Errors as pages: what went wrong, what to do now, and the request's id. Programs get problem details instead."""

from __future__ import annotations

import logging
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from hub.core.context import request_id
from hub.core.errors import HubError, LimitExceeded
from hub.core.measures import ERRORS
from hub.home.policy import POLICY
from hub.rest import problems
from hub.rest.errors import internal_error, to_hub_error

logger = logging.getLogger(__name__)
SHORTEST = "<!DOCTYPE html><title>Hub</title><p>Server error. Try again. <code>{id}</code>"
ADVICE: dict[int, str | Promise] = {
    400: _("Go back and try again. If it was a form, it has to be opened anew."),
    403: _("If you need it for your work, ask those who run the hub here."),
    404: _("The address may be mistyped, what was there may have been deleted, or you may not see it."),
    413: _("Send less at once, or ask those who run the hub for a higher limit."),
    429: _("Wait a moment and try again."),
    500: _("It was noted. Try again in a moment; if it comes again, tell those who run the hub the number below."),
    503: _("Try again in a moment."),
}


def error_page(request: HttpRequest, error: HubError) -> HttpResponse:
    """Make the page of an expected failure, in the reader's language; says when to come back where that helps."""
    page = _page(request, error.status, error.title, str(error), code=error.error_code)
    if error.retryable:
        page["Retry-After"] = problems.retry_after(error)
    return page


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400: a problem under /api/, a page elsewhere, which names the limit that was passed."""
    if problems.is_api_call(request):
        return problems.respond_to_exception(request, exception)
    error = to_hub_error(exception)
    if isinstance(error, LimitExceeded):
        return error_page(request, error)
    return _page(request, 400, _("This can't be read"), _("The hub could not read what your browser sent."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler403: a problem under /api/, a page elsewhere."""
    if problems.is_api_call(request):
        return problems.respond_to_exception(request, exception)
    return _page(request, 403, _("Not allowed"), str(exception) or _("You may not open this page."))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404: a problem under /api/, a page elsewhere."""
    if problems.is_api_call(request):
        return problems.respond_to_exception(request, exception)
    return _page(request, 404, _("Not found"), _("There is no such page."))


def server_error(request: HttpRequest) -> HttpResponse:
    """handler500: a problem under /api/, a page elsewhere. Django has logged the exception already."""
    error = internal_error()
    if problems.is_api_call(request):
        return problems.problem_response(request, error)
    try:
        return _page(request, 500, error.title, _("Something failed in the hub."), code=error.error_code)
    except Exception:  # whatever broke the page may break this one
        logger.exception("the page of an error failed")
        return HttpResponse(SHORTEST.format(id=request_id()), status=500)


def form_only(request: HttpRequest) -> HttpResponse:
    """Make the page of an address that only forms are sent to, and that somebody opened."""
    title, message = _("There is no page here"), _("Only a form is sent to this address. Nothing was changed.")
    page = _page(request, 405, title, message, code="method_not_allowed")
    page["Allow"] = "POST"
    return page


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:
    """CSRF_FAILURE_VIEW: the form was opened before the sign-in, in another session, or by another site."""
    if problems.is_api_call(request):
        return problems.respond_to_exception(request, to_hub_error(PermissionError(reason)))
    return _page(
        request,
        403,
        _("The form has expired"),
        _("Nothing was saved. Somebody signed in or out here since the form was opened, or cookies are off."),
        advice=_("Go back, copy what you typed, reload the page and send it again."),
        code="form_expired",
    )


def _page(
    request: HttpRequest,
    status: int,
    title: str | Promise,
    message: str | Promise,
    *,
    advice: str | Promise = "",
    code: str = "",
) -> HttpResponse:
    ERRORS.labels("page", code or str(status)).inc()
    context = {
        "title": title,
        "message": message,
        "advice": advice or ADVICE.get(status, ""),
        "status": status,
        "request_id": request_id(),
        "home": reverse("home"),
    }
    # without a context processor: nothing here may ask the database, which may be what failed
    page = HttpResponse(cast(str, render_to_string("home/error.html", context)), status=status)
    add_never_cache_headers(page)
    page["Content-Security-Policy"] = POLICY
    return page
