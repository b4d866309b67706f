"""Documents for readers: the list, a document's text, a passage by itself, the original file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from hub.access.principals import Scope
from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import principal_of
from hub.core.errors import Conflict, NotFound, Unavailable
from hub.home.addresses import document_address, page_address, page_picture_address
from hub.home.pages import home_page, render_home
from hub.home.uploading import may_upload, uploader
from hub.rest.pagination import cursor_scope, paginate_keyset
from knowledge.documents.documents import get_document
from knowledge.documents.reading import list_documents, list_versions, open_original
from knowledge.documents.schemas import document_out
from knowledge.models import Collection, DocumentType, DocumentVersion
from knowledge.originals import WIDTHS, draw_page, has_pictures, original_of
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
        **(uploader(principal, collection=asked["collection"]) if may_upload(principal) else {}),
    )


@home_page
def document(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Show a document's text with its outline; ``start`` and ``end`` mark a passage of ``version``."""
    principal = principal_of(request)
    row, versions = list_versions(principal, public_id)
    number = whole_number(request.GET.get("version"), digits=9)
    if number is not None and number not in {one.number for one in versions}:
        raise NotFound(_("{path} has no text of version {version}."), path=row.path, version=number)
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
        pages=_pages_of(public_id, versions),
    )


def _pages_of(public_id: str, versions: Sequence[DocumentVersion]) -> str:
    """The address of the original's first page, empty where it has none to show."""
    number = _version_of(versions, None)
    return page_address(public_id, number, 1, WIDTHS[1]) if number else ""


@home_page
def passage(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Show a passage, marked, with what is around it. :raises NotFound: no such document, or no such version."""
    principal = principal_of(request)
    start, end = (whole_number(request.GET.get(name), digits=9) or 0 for name in ("start", "end"))
    number = whole_number(request.GET.get("version"), digits=9)
    row = get_document(principal, public_id)
    shown = around_passage(principal, row, version=number, start=start, end=end)
    context: dict[str, Any] = {"pages": [], "sheets": []}
    try:
        pages, context["sheets"] = original_of(row, shown.version.number, start, end)
        context["pages"] = [
            (one, page_picture_address(public_id, shown.version.number, one.page, WIDTHS[1])) for one in pages
        ]
    except (Conflict, Unavailable) as error:  # the text is there all the same
        context["not_shown"] = str(error)
    return render_home(
        request,
        "home/passage.html",
        title=row.title,
        document=row,
        shown=shown,
        link=document_address(public_id, shown.version.number, start, end),
        **context,
    )


@home_page
def page(request: HttpRequest, public_id: str, number: int) -> HttpResponseBase:
    """Show a page of the original with the way to its neighbours. :raises NotFound: no such page."""
    principal = principal_of(request)
    row, versions = list_versions(principal, public_id)
    version = _version_of(versions, request.GET.get("version"))
    zoom = whole_number(request.GET.get("width"), digits=4)
    width = zoom if zoom in WIDTHS else WIDTHS[1]
    picture = draw_page(principal, public_id, version=version, page=number, width=width)
    return render_home(
        request,
        "home/page.html",
        title=_("{title}, p. {page}").format(title=row.title, page=number),
        document=row,
        version=version,
        number=number,
        picture=picture,
        source=page_picture_address(public_id, version, number, width),
        previous=page_address(public_id, version, number - 1, width) if number > 1 else "",
        next=page_address(public_id, version, number + 1, width) if number < picture.pages_count else "",
        widths=[(one, page_address(public_id, version, number, one)) for one in WIDTHS],
        width=width,
    )


@home_page
def page_picture(request: HttpRequest, public_id: str, number: int) -> HttpResponseBase:
    """Send a page of the original as a picture. Browsers keep none of it: the next look asks for the right again."""
    principal = principal_of(request)
    version = whole_number(request.GET.get("version"), digits=9) or 0
    width = whole_number(request.GET.get("width"), digits=4) or WIDTHS[1]
    picture = draw_page(principal, public_id, version=version, page=number, width=width)
    response = HttpResponse(picture.data, content_type=picture.media_type)
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _version_of(versions: Sequence[DocumentVersion], asked: str | None) -> int:
    """The number that is asked for, or that of the latest version whose pages can be shown; 0 without one."""
    number = whole_number(asked, digits=9)
    return next((one.number for one in versions if number in (one.number, None) and has_pictures(one)), 0)


@home_page
def file(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Send the original as a file of a type that no browser opens by itself."""
    version, content = open_original(principal_of(request), public_id)
    response = FileResponse(
        content, as_attachment=True, filename=version.filename, content_type="application/octet-stream"
    )
    response["X-Content-Type-Options"] = "nosniff"
    return response
