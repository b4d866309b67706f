"""The REST API under /api/v1: the apps' routers on the hub's conventions."""

from __future__ import annotations

from hub.audit.api import router as audit_router
from hub.people.api import router as people_router
from hub.rest.conventions import HubAPI
from knowledge.api import router as knowledge_router
from review.api import router as review_router
from review.api.mappings import router as mappings_router

DESCRIPTION = (
    "Search documents with citations and review them against check masters. Authorize with a token of "
    "`manage.py token create`; errors are problem details (RFC 9457) with a stable `code`."
)


def build_api() -> HubAPI:
    """Mount every app's router on a new API."""
    api = HubAPI(title="Hub", version="1", description=DESCRIPTION)
    # Before knowledge's /guidelines/{article}: "mappings" and "suspects" are no articles.
    api.add_router("", mappings_router)
    api.add_router("", knowledge_router)
    api.add_router("", review_router)
    api.add_router("", audit_router)
    api.add_router("", people_router)
    return api


api = build_api()
