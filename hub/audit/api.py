"""GET /audit: the audit trail, for auditors."""

from __future__ import annotations

from dataclasses import fields
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any, Literal

from django.http.response import HttpResponseBase
from ninja import Field, Query, Router, Schema

from hub.access.models import AuditEvent
from hub.access.principals import Principal
from hub.audit.events import EventFilter, details_for, list_events, record_audit_read
from hub.audit.exports import export_events
from hub.core.moments import Moment
from hub.rest.auth import HubRequest
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from hub.rest.responses import attachment
from hub.rest.schemas import Page, PageQuery, ShortText

router = Router(tags=["operations"])


class AuditQuery(Schema):
    action: ShortText = Field("", description="DOCUMENT_UPLOAD, SEARCH, REVIEW_START, …")
    resource: ShortText = Field("", description="document:doc_…, review:rev_…, collection:slug, …")
    about: ShortText = Field("", description="a resource, or the id of a document that a search or an answer showed")
    principal: ShortText = Field("", description="who")
    kind: ShortText = Field("", description="read, change, access or kept")
    door: ShortText = Field("", description="admin, rest, mcp, cli or task")
    term: ShortText = Field("", description="a person by name or user name, an object or its beginning, or a day")
    purpose: ShortText = Field("", description="a part of the purpose that was given")
    question: ShortText = Field("", description="searches that asked exactly this, also where only a hash is kept")
    day: date | None = Field(None, description="of the hub's time zone")
    since: Moment | None = None
    until: Moment | None = Field(None, description="exclusive")

    def wanted(self) -> EventFilter:
        """What the service takes."""
        return EventFilter(**{one.name: getattr(self, one.name) for one in fields(EventFilter)})


class AuditEventOut(Schema):
    """One line: who did what to which resource, when, through which door."""

    id: int
    at: datetime
    action: str
    principal: str
    resource: str
    details: dict[str, Any]
    door: str = Field(description="admin, rest, mcp, cli or task")
    request_id: str
    address: str | None
    agent: str
    purpose: str
    kind: str


@router.get("/audit", response=Page[AuditEventOut])
def list_audit_events(
    request: HubRequest, filters: Annotated[AuditQuery, Query()], page: Annotated[PageQuery, Query()]
) -> KeysetPage[AuditEventOut]:
    """The audit trail, newest first: all for auditors of the hub, for others what they audit."""
    wanted = filters.wanted()
    events = list_events(request.principal, wanted)
    record_audit_read(request.principal, wanted.asked())
    scope = cursor_scope("audit", filters)
    found = paginate_keyset(events, limit=page.limit, cursor=page.cursor, scope=scope)
    return found.map(partial(_event_out, request.principal))


@router.get("/audit/export")
def export_audit_events(
    request: HubRequest,
    filters: Annotated[AuditQuery, Query()],
    file_format: Annotated[Literal["csv", "jsonl", "cef"], Query(alias="format")] = "csv",
) -> HttpResponseBase:
    """The same lines as a file, oldest first."""
    parts, form = export_events(request.principal, filters.wanted(), file_format=file_format)
    return attachment(request, parts, filename=f"audit.{form.suffix}", content_type=form.content_type)


def _event_out(principal: Principal, event: AuditEvent) -> AuditEventOut:
    shown = AuditEventOut.model_validate(event, from_attributes=True)
    return shown.model_copy(update={"details": details_for(principal, event)})
