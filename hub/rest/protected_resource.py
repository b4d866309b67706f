"""Where clients find out who issues tokens for this hub (RFC 9728), and the header that leads them there.

With identity providers configured they are the authorization servers. Without any there is none: the hub's own tokens
are made by people on a page, and the description says nothing else.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from hub.access.principals import Scope

WELL_KNOWN = "/.well-known/oauth-protected-resource"
REST_PATH = "/api/v1"
KEPT_S = 300


def describe_resource(path: str) -> dict[str, Any]:
    """Describe the resource at a path of this hub: its URL, the issuers of its tokens, and their scopes."""
    providers = settings.CONFIG.hub_oidc_providers
    described: dict[str, Any] = {
        "resource": settings.CONFIG.public_url + path,
        "bearer_methods_supported": ["header"],
        "resource_name": "hub",
    }
    if not providers:
        return described
    prefixes = {provider.scope_prefix for provider in providers}
    prefix = prefixes.pop() if len(prefixes) == 1 else ""
    described["authorization_servers"] = [provider.issuer for provider in providers]
    described["scopes_supported"] = [prefix + scope.value for scope in Scope if scope is not Scope.ADMIN]
    return described


def metadata_url(path: str) -> str:
    """Give the URL at which :func:`describe_resource` answers for a path."""
    return f"{settings.CONFIG.public_url}{WELL_KNOWN}{path}"


@require_safe
def describe_rest(request: HttpRequest) -> HttpResponse:
    """Describe the REST API to a client that has no token yet."""
    return JsonResponse(describe_resource(REST_PATH), headers={"Cache-Control": f"public, max-age={KEPT_S}"})
