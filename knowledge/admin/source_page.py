"""What the page of one source says beside its form."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from hub.admin_site.pages import errors_as_messages, principal_of
from hub.core.languages import shown
from knowledge.documents.source_previews import preview_source
from knowledge.documents.source_schemas import scan_undo_out
from knowledge.documents.source_state import switched_off, unread_documents
from knowledge.models import DocumentStatus, Source

LOOK = "look"
"""The parameter of the page's address that asks what the next scan would do."""
MOST_UNREAD = 20


def is_scanned(source: Source) -> bool:
    """Whether a scan of the source, at its place of today, has begun."""
    return "state" in source.report


def undo_in_words(source: Source) -> str:
    """Which scan an undo takes back; empty where there is none to take back."""
    undo = scan_undo_out(source.report)
    if undo is None:
        return ""
    at = date_format(localtime(undo.at), "DATETIME_FORMAT")
    return str(_("scan of {at}: new {new}, changed {changed}").format(at=at, new=undo.new, changed=undo.changed))


def about_source(request: HttpRequest, source: Source, *, may_change: bool) -> dict[str, Any]:
    """Return whether the source is off, what could not be read of it, which scan can be taken back, and what its next
    scan would do: until it has been scanned once, and whenever that is asked for.
    """
    undo, is_first = scan_undo_out(source.report), not is_scanned(source)
    context = {
        "undo": undo,
        "undo_in_words": undo_in_words(source),
        "is_of_an_earlier_scan": undo is not None and undo.scan != source.report.get("batch"),
        "switched_off": None if source.enabled else switched_off(source),
        "may_change_source": may_change,
        "is_first": is_first,
        "look": f"?{LOOK}=1" if may_change and not is_first else "",
        "unread": list(unread_documents(principal_of(request), source)[:MOST_UNREAD]),
        "unread_states": [DocumentStatus.FAILED, DocumentStatus.NEEDS_OCR],
    }
    if request.method == "GET" and may_change and (is_first or LOOK in request.GET):
        with errors_as_messages(request):
            preview = preview_source(
                principal=principal_of(request),
                kind=source.kind,
                location=source.location,
                collection=source.collection.slug,
            )
            context |= {"preview": preview, "unreadable": [(path, shown(why)) for path, why in preview.unreadable]}
    return context
