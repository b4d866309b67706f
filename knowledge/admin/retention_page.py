"""What the retention periods would delete next, and what legal hold keeps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from hub.access.principals import Scope
from hub.admin_site.callers import principal_of
from hub.admin_site.pages import admin_page, render_page
from knowledge.documents.retention import due_documents, preview_retention, retention_days
from knowledge.models import Collection, Document

SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDocument:
    """A document whose period is over, and since when."""

    document: Document
    since: datetime


@admin_page("retention/", name="hub_retention")
def retention_page(request: HttpRequest) -> HttpResponseBase:
    """Show each collection's period with what is due and what is held, and the documents, the longest due first."""
    principal = principal_of(request)
    curated = set(Collection.objects.visible_to(principal, Scope.CURATE).values_list("pk", flat=True))
    rows = list(due_documents(principal)[: SHOWN + 1])
    return render_page(
        request,
        "admin/hub/retention.html",
        title=_("Retention"),
        previews=[(preview, preview.collection.pk in curated) for preview in preview_retention(principal)],
        due=[_due(document) for document in rows[:SHOWN]],
        is_cut=len(rows) > SHOWN,
        shown=SHOWN,
    )


def _due(document: Document) -> DueDocument:
    days = retention_days(document.collection) or 0
    return DueDocument(document=document, since=document.updated_at + timedelta(days=days))
