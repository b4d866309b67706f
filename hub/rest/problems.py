"""How an error looks on the wire: problem details (RFC 9457) with a stable ``code``, in the caller's language."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.encoding import escape_uri_path

from hub.core.context import request_id
from hub.core.errors import HubError
from hub.core.measures import ERRORS
from hub.rest.errors import InvalidFields, to_hub_error
from hub.rest.protected_resource import REST_PATH, metadata_url

API_PREFIX = "/api/"
PROBLEM_MEDIA_TYPE = "application/problem+json"
DEFAULT_RETRY_AFTER_S = 5


def is_api_call(request: HttpRequest) -> bool:
    """Tell whether programs call this path, so that errors must be problems and not pages."""
    return request.path_info.startswith(API_PREFIX)


def problem_response(request: HttpRequest, error: HubError) -> HttpResponse:
    """Render ``error`` as a problem with the headers that belong to its status (Retry-After, WWW-Authenticate).

    ``error.data["retry_after_s"]`` overrides the default of 5 s for retryable errors; ``error.data["field"]`` names
    the one field that is to blame.
    """
    ERRORS.labels("rest" if is_api_call(request) else "page", error.error_code).inc()
    body: dict[str, Any] = {
        "type": f"urn:hub:problem:{error.error_code}",
        "title": str(error.title),
        "status": error.status,
        "detail": str(error),
        "code": error.error_code,
        "instance": escape_uri_path(request.path),
        "request_id": request_id(),
        "retryable": error.retryable,
    }
    if errors := _field_errors(error):
        body["errors"] = errors
    response = HttpResponse(json.dumps(body, ensure_ascii=False), status=error.status, content_type=PROBLEM_MEDIA_TYPE)
    if error.retryable:
        response["Retry-After"] = retry_after(error)
    if error.status == 401:
        response["WWW-Authenticate"] = _challenge(request)
    return response


def retry_after(error: HubError) -> str:
    """Give the seconds after which to try again, as the error names them."""
    return str(error.data.get("retry_after_s", DEFAULT_RETRY_AFTER_S))


def _field_errors(error: HubError) -> list[dict[str, str]]:
    if isinstance(error, InvalidFields):
        return error.errors
    if field := error.data.get("field"):
        return [{"field": str(field), "message": str(error)}]
    return []


def _challenge(request: HttpRequest) -> str:
    # RFC 6750 section 3: no error code when the request had no credentials at all
    error = ', error="invalid_token"' if "Authorization" in request.headers else ""
    return f'Bearer realm="hub"{error}, resource_metadata="{metadata_url(REST_PATH)}"'


def respond_to_exception(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer any exception that left a REST call with a problem."""
    return problem_response(request, to_hub_error(error))
