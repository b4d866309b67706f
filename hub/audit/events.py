"""Which lines of the audit trail a caller may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime, time, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat
from django.utils import timezone

from hub.access.audit_lines import hash_of_query
from hub.access.models import AuditEvent
from hub.access.names import called_like
from hub.access.principals import HubRight, Principal, Scope
from hub.access.services import record_event
from knowledge.models import Collection, Document
from review.models import Review


def visible_events(principal: Principal) -> QuerySet[AuditEvent]:
    """Keep the events about collections, documents and reviews that the caller audits; hub auditors see all."""
    if principal.may(HubRight.AUDIT):
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


def details_for(principal: Principal, event: AuditEvent) -> dict[str, Any]:
    """A line's details as the caller may read them: without the ids of other documents than its own.

    Which documents a search showed is for superusers, who may see all of them.
    """
    details: dict[str, Any] = event.details
    if principal.is_superuser:
        return details
    lists = {name: details.get(name) for name in ("related_documents", "documents")}
    return details | {name: len(given) for name, given in lists.items() if isinstance(given, list)}


def _resources(kind: str, field: str, rows: QuerySet[Any]) -> QuerySet[Any]:
    named = rows.order_by().annotate(resource=_name_of(kind, field))
    resources: QuerySet[Any] = named.values_list("resource", flat=True)
    return resources


def _name_of(kind: str, field: str) -> Concat:
    return Concat(Value(f"{kind}:"), F(field), output_field=CharField())


def record_audit_read(principal: Principal, asked: Mapping[str, object]) -> None:
    """Write that lines of the trail were read, and which were asked for. One statement."""
    record_event(principal, "AUDIT_READ", "", asked=dict(asked))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which lines are wanted; empty fields do not restrict.

    ``about`` is a resource, or the public id of a document that a search or an answer showed. ``until`` is exclusive.
    ``term`` is what people type into one field: a person by name or user name, an object or the beginning of its name,
    or a day.
    """

    action: str = ""
    resource: str = ""
    about: str = ""
    principal: str = ""
    kind: str = ""
    door: str = ""
    term: str = ""
    purpose: str = ""
    question: str = ""
    day: date | None = None
    since: datetime | None = None
    until: datetime | None = None

    def asked(self) -> dict[str, str]:
        """The fields that restrict, as texts; of a question its hash."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        asked = {name: str(value) for name, value in given.items() if value}
        return asked | ({"question": hash_of_query(self.question)} if self.question else {})


def list_events(principal: Principal, wanted: EventFilter | None = None) -> QuerySet[AuditEvent]:
    """The lines that an auditor may read, newest first. Raises Forbidden without the scope audit."""
    principal.require(Scope.AUDIT)
    return filtered(visible_events(principal), wanted or EventFilter()).order_by("-id")


def filtered(events: QuerySet[AuditEvent], wanted: EventFilter) -> QuerySet[AuditEvent]:
    """Keep the lines that are wanted; whose they are is the caller's affair."""
    first, end = _day(wanted.day) if wanted.day else (None, None)
    exact = {
        "action": wanted.action,
        "resource": wanted.resource,
        "principal": wanted.principal,
        "kind": wanted.kind,
        "door": wanted.door,
        "purpose__icontains": wanted.purpose,
        "at__gte": max((moment for moment in (wanted.since, first) if moment), default=None),
        "at__lt": min((moment for moment in (wanted.until, end) if moment), default=None),
    }
    events = events.filter(**{name: value for name, value in exact.items() if value})
    if wanted.about:
        document = wanted.about.removeprefix("document:")
        events = events.filter(
            Q(resource=wanted.about)
            | Q(resource=f"document:{document}")
            | Q(details__documents__contains=[document])
            | Q(details__document_id=document)
        )
    if wanted.term:
        events = _searched(events, wanted.term.strip()) if wanted.term.strip() else events
    if wanted.question:
        events = events.filter(
            Q(details__query_hash=hash_of_query(wanted.question)) | Q(details__query=wanted.question)
        )
    return events


def _searched(events: QuerySet[AuditEvent], term: str) -> QuerySet[AuditEvent]:
    try:
        return filtered(events, EventFilter(day=date.fromisoformat(term)))
    except ValueError:
        if term.startswith(("doc_", "document:")):
            return filtered(events, EventFilter(about=term))
    return events.filter(Q(resource__startswith=term) | Q(principal=term) | _is_of_somebody_called(term))


def _is_of_somebody_called(words: str) -> Q:
    """Whether a line is of an account that is called so and still has the user name that it acted with: the lines that
    are shown with that name.
    """
    called = called_like(User.objects.all(), words)
    acted = User.objects.filter(pk=OuterRef("user_id"), username=OuterRef("principal"))
    return Q(principal__in=called.values("username")) & Q(Exists(acted))


def _day(day: date) -> tuple[datetime, datetime]:
    first = timezone.make_aware(datetime.combine(day, time.min))
    return first, first + timedelta(days=1)
