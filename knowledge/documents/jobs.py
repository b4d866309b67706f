"""What is worked on now, or waits for it."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from hub.access.principals import Principal, Scope
from knowledge.documents.sources import visible_sources
from knowledge.models import DocumentVersion, Source
from knowledge.models.documents import IN_WORK


def versions_in_work(principal: Principal) -> QuerySet[DocumentVersion]:
    """The versions in the pipeline that the caller may read, with documents and collections selected."""
    principal.require(Scope.READ)
    return (
        DocumentVersion.objects.visible_to(principal)
        .filter(status__in=IN_WORK)
        .select_related("document__collection")
        .order_by("-id")
    )


def scans_in_work(principal: Principal) -> QuerySet[Source]:
    """The sources of collections that the caller may read that are being scanned, or wait for it, by name."""
    asked_for = Q(scanned_at__isnull=True, enabled=True)
    return visible_sources(principal, Scope.READ).filter(asked_for | Q(report__state="running") | ~Q(lease_token=""))
