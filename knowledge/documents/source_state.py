"""What became of a source after its scans: documents that could not be read, and who switched it off."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from hub.access.models import AuditEvent
from hub.access.names import name_with_login
from hub.access.principals import Principal
from knowledge.models import Document, DocumentStatus, Source

UNREAD = (DocumentStatus.FAILED, DocumentStatus.NEEDS_OCR)
"""How a document ends that a scan took in and whose text could not be read in the background."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchedOff:
    """When a source was switched off, and by whom: a name with the user name, or what acted for nobody."""

    at: datetime
    by: str


def unread_documents(principal: Principal, source: Source) -> QuerySet[Document]:
    """The documents of a source that the caller may read and that could not be read since they were taken in, by path,
    with their latest versions. Permission filter applied.
    """
    unread = _unread(principal).filter(collection=source.collection_id, source_root=source.location)
    return unread.select_related("latest_version").order_by("path", "pk")


def with_unread_count(principal: Principal, sources: QuerySet[Source]) -> QuerySet[Source]:
    """Give each source ``unread_count``: how many :func:`unread_documents` it has. No further query."""
    of_source = _unread(principal).filter(collection=OuterRef("collection"), source_root=OuterRef("location"))
    counted = of_source.order_by().values("collection").annotate(number=Count("pk")).values("number")
    return sources.annotate(unread_count=Coalesce(Subquery(counted), 0))


def switched_off(source: Source) -> SwitchedOff | None:
    """When a source that is off was switched off, by the audit trail; None when the trail doesn't say. Two queries."""
    lines = AuditEvent.objects.filter(resource=f"source:{source.name}", details__has_key="enabled")
    last = lines.order_by("-id").first()
    if last is None or last.details["enabled"]:
        return None
    person = User.objects.filter(pk=last.user_id, username=last.principal).first() if last.user_id else None
    return SwitchedOff(at=last.at, by=name_with_login(person) if person else last.principal)


def _unread(principal: Principal) -> QuerySet[Document]:
    return Document.objects.visible_to(principal).live().filter(latest_version__status__in=UNREAD)
