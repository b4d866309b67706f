"""Which lines of the audit trail a caller may read."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import CharField, Exists, F, OuterRef, QuerySet, Value
from django.db.models.functions import Concat

from hub.access.models import AuditEvent
from hub.access.principals import Principal, Scope
from knowledge.models import Collection, Document
from review.models import Review


def visible_events(principal: Principal) -> QuerySet[AuditEvent]:
    """Keep the events about collections, documents and reviews that the caller audits; superusers see all."""
    if principal.is_superuser:
        return AuditEvent.objects.all()
    audited = (
        _resources("collection", "slug", Collection.objects.visible_to(principal, Scope.AUDIT))
        .union(_resources("document", "public_id", Document.objects.visible_to(principal, Scope.AUDIT)), all=True)
        .union(_resources("review", "public_id", Review.objects.visible_to(principal, Scope.AUDIT)), all=True)
    )
    return AuditEvent.objects.filter(~_is_of_a_former_collection(), resource__in=audited)


def _is_of_a_former_collection() -> Exists:
    """Whether a line is older than the collection with its slug: it is about another one, deleted before."""
    later = Collection.objects.order_by().annotate(resource=_name_of("collection", "slug"))
    return Exists(later.filter(resource=OuterRef("resource"), created_at__gt=OuterRef("at")))


def shown_details(event: AuditEvent) -> dict[str, Any]:
    """A line's details without the ids of other documents than its own, which lines of earlier versions hold."""
    related = event.details.get("related_documents")
    return {**event.details, "related_documents": len(related)} if isinstance(related, list) else event.details


def _resources(kind: str, field: str, rows: QuerySet[Any]) -> QuerySet[Any]:
    named = rows.order_by().annotate(resource=_name_of(kind, field))
    resources: QuerySet[Any] = named.values_list("resource", flat=True)
    return resources


def _name_of(kind: str, field: str) -> Concat:
    return Concat(Value(f"{kind}:"), F(field), output_field=CharField())


def list_events(
    principal: Principal,
    *,
    action: str = "",
    resource: str = "",
    who: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
) -> QuerySet[AuditEvent]:
    """The lines that an auditor may read, newest first; ``until`` is exclusive."""
    principal.require(Scope.AUDIT)
    wanted = {"action": action, "resource": resource, "principal": who, "at__gte": since, "at__lt": until}
    given = {name: value for name, value in wanted.items() if value}
    return visible_events(principal).filter(**given).order_by("-id")
