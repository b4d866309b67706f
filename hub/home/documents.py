"""Documents for readers: the list, a document's text, a passage by itself, the original file."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from hub.access.principals import Scope
from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import principal_of
from hub.home.addresses import document_address
from hub.home.pages import home_page, render_home
from hub.rest.pagination import cursor_scope, paginate_keyset
from knowledge.documents.documents import get_document
from knowledge.documents.reading import list_documents, list_versions, open_original
from knowledge.documents.schemas import document_out
from knowledge.models import Collection, DocumentType
from knowledge.rendering import around_passage, outline_of, read_text
from review.runs.reviews import list_reviews

PER_PAGE = 50
ORDERS = {"-updated_at": "updated", "title": "title"}
LATEST_REVIEWS = 5


@home_page
def documents(request: HttpRequest) -> HttpResponseBase:
    """List what the reader may read, the latest changes first or by title; narrowed down by words and kind."""
    principal = principal_of(request)
    asked = {name: request.GET.get(name, "").strip() for name in ("q", "collection", "document_type")}
    order = next((key for key, name in ORDERS.items() if name == request.GET.get("order")), "-updated_at")
    found = list_documents(
        principal, query=asked["q"], collection=asked["collection"], document_type=asked["document_type"]
    )
    scope = cursor_scope("home-documents", order=order, **asked)
    page = paginate_keyset(
        found.filter(retired_at__isnull=True).select_related("collection", "document_type", "latest_version"),
        limit=PER_PAGE,
        cursor=request.GET.get("cursor") or None,
        scope=scope,
        order=order,
    )
    following = request.GET.copy()
    following["cursor"] = page.next_cursor or ""
    return render_home(
        request,
        "home/documents.html",
        title=_("Documents"),
        asked=asked,
        order=ORDERS[order],
        documents=page.items,
        next=f"?{following.urlencode()}" if page.next_cursor else "",
        is_first="cursor" not in request.GET,
        collections=Collection.objects.visible_to(principal, Scope.READ).order_by("name"),
        document_types=DocumentType.objects.all(),
    )


@home_page
def document(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Show a document's text with its outline; ``start`` and ``end`` mark a passage of ``version``."""
    principal = principal_of(request)
    row, versions = list_versions(principal, public_id)
    text = read_text(principal, row, versions, request.GET)
    return render_home(
        request,
        "home/document.html",
        title=row.title,
        document=row,
        facts=document_out(row),
        versions=versions,
        text=text,
        outline=outline_of(text),
        reviews=list_reviews(principal, document_id=public_id)[:LATEST_REVIEWS],
    )


@home_page
def passage(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Show a passage, marked, with what is around it. :raises NotFound: no such document, or no such version."""
    principal = principal_of(request)
    start, end = (whole_number(request.GET.get(name), digits=9) or 0 for name in ("start", "end"))
    number = whole_number(request.GET.get("version"), digits=9)
    row = get_document(principal, public_id)
    shown = around_passage(principal, row, version=number, start=start, end=end)
    return render_home(
        request,
        "home/passage.html",
        title=row.title,
        document=row,
        shown=shown,
        link=document_address(public_id, shown.version.number, start, end),
    )


@home_page
def file(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Send the original as a file of a type that no browser opens by itself."""
    version, content = open_original(principal_of(request), public_id)
    response = FileResponse(
        content, as_attachment=True, filename=version.filename, content_type="application/octet-stream"
    )
    response["X-Content-Type-Options"] = "nosniff"
    return response
