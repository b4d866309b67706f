"""The front page of the administration, with the alerts that stand now for those who run the hub."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from hub.access.principals import HubRight
from hub.admin.dashboard import dashboard_context
from hub.admin_site.pages import principal_of
from hub.site.alerts import troubles


def front_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the page's facts, as far as the person may see them; alerts in the language of the page."""
    facts = dashboard_context(request, context)
    principal = principal_of(request)
    if principal.may(HubRight.OPERATION):
        facts["troubles"] = list(troubles(principal).values())
    return facts
