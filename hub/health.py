"""/healthz (this process is alive) and /readyz (everything it needs answers)."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from hub.rest.readiness import BASE_CHECKS, run_checks
from knowledge.checks import READINESS_CHECKS


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 as long as the process can answer at all."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer {name: {status, detail}} for database, queue, storage and model: 200 when all are ok, else 503."""
    is_ready, report = run_checks([*BASE_CHECKS, *READINESS_CHECKS])
    response = JsonResponse(report, status=200 if is_ready else 503, json_dumps_params={"ensure_ascii": False})
    if not is_ready:
        response["Retry-After"] = "5"
    return response
