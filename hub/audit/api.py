"""GET /audit: the audit trail, for auditors."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from ninja import Field, Query, Router, Schema

from hub.access.models import AuditEvent
from hub.audit.events import list_events, shown_details
from hub.core.moments import Moment
from hub.rest.auth import HubRequest
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from hub.rest.schemas import Page, PageQuery, ShortText

router = Router(tags=["operations"])


class AuditQuery(Schema):
    action: ShortText = Field("", description="DOCUMENT_UPLOAD, SEARCH, REVIEW_START, …")
    resource: ShortText = Field("", description="document:doc_…, review:rev_…, collection:slug, …")
    principal: ShortText = Field("", description="who")
    since: Moment | None = None
    until: Moment | None = Field(None, description="exclusive")


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


@router.get("/audit", response=Page[AuditEventOut])
def list_audit_events(
    request: HubRequest, filters: Annotated[AuditQuery, Query()], page: Annotated[PageQuery, Query()]
) -> KeysetPage[AuditEventOut]:
    """The audit trail, newest first: all of it for superusers, for auditors the lines about what they audit."""
    events = list_events(
        request.principal,
        action=filters.action,
        resource=filters.resource,
        who=filters.principal,
        since=filters.since,
        until=filters.until,
    )
    scope = cursor_scope("audit", filters)
    return paginate_keyset(events, limit=page.limit, cursor=page.cursor, scope=scope).map(_event_out)


def _event_out(event: AuditEvent) -> AuditEventOut:
    shown = AuditEventOut.model_validate(event, from_attributes=True)
    return shown.model_copy(update={"details": shown_details(event)})
