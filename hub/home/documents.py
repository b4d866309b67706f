"""Documents for readers: the list, a document's text, a passage by itself, the original file."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.db.models import Value
from django.db.models.functions import Coalesce
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from hub.access.principals import Principal, Scope
from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import principal_of
from hub.core.errors import Conflict, NotFound, TooManyAtOnce, Unavailable
from hub.home.addresses import document_address, page_address, page_picture_address
from hub.home.editing import bulk_choices, edit_choices
from hub.home.pages import home_page, render_home
from hub.home.uploading import MENDABLE, may_upload, uploader
from hub.rest.pagination import cursor_scope, paginate_keyset
from knowledge.documents.documents import get_document, is_changeable
from knowledge.documents.reading import list_documents, list_versions, open_original
from knowledge.documents.schemas import document_out
from knowledge.documents.views import document_views
from knowledge.models import Collection, Document, DocumentStatus, DocumentType, DocumentVersion
from knowledge.models.documents import IN_WORK
from knowledge.originals import (
    WIDTHS,
    draw_page,
    has_pictures,
    has_read_pages,
    original_of,
    searchable_pdf,
    takes_a_while,
)
from knowledge.rendering import around_passage, outline_of, read_text
from review.runs.reviews import list_reviews

PER_PAGE = 50
FILTERS = ("q", "collection", "document_type", "status")
# Columns that the list may be sorted by: their heads and fields.
COLUMNS: dict[str, tuple[str | Promise, str]] = {
    "title": (gettext_lazy("Document"), "title"),
    "size": (gettext_lazy("File size"), "size"),
    "uploader": (gettext_lazy("Uploaded by"), "uploader"),
    "updated": (gettext_lazy("Updated"), "updated_at"),
}
LATEST_REVIEWS = 5


@home_page
def documents(request: HttpRequest) -> HttpResponseBase:
    """List what the reader may read, in the order of a column; narrowed down by words, kind and state."""
    principal = principal_of(request)
    asked = {name: request.GET.get(name, "").strip() for name in FILTERS}
    uploads = may_upload(principal)
    columns = {name: one for name, one in COLUMNS.items() if name != "uploader" or uploads}
    order = request.GET.get("order", "").strip()
    order = order if order.removeprefix("-") in columns else "-updated"
    found = list_documents(principal, query=asked.pop("q"), **asked)
    asked["q"] = request.GET.get("q", "").strip()
    page = paginate_keyset(
        (found if asked["status"] else found.filter(retired_at__isnull=True))
        .select_related("collection", "document_type", "latest_version")
        .annotate(
            size=Coalesce("latest_version__blob__size_bytes", 0), uploader=Coalesce("owner__username", Value(""))
        ),
        limit=PER_PAGE,
        cursor=request.GET.get("cursor") or None,
        scope=cursor_scope("home-documents", order=order, **asked),
        order=("-" if order.startswith("-") else "") + columns[order.removeprefix("-")][1],
    )
    following = request.GET.copy()
    following["cursor"] = page.next_cursor or ""
    query = urlencode({name: value for name, value in {**asked, "order": order}.items() if value})
    return render_home(
        request,
        "home/documents.html",
        title=_("Documents"),
        asked=asked,
        columns=[_column(name, title, order, asked) for name, (title, _field) in columns.items()],
        shows_uploader=uploads,
        documents=page.items,
        next=f"?{following.urlencode()}" if page.next_cursor else "",
        is_first="cursor" not in request.GET,
        order=order,
        collections=Collection.objects.visible_to(principal, Scope.READ).order_by("name"),
        document_types=DocumentType.objects.all(),
        states=[one for one in DocumentStatus if one not in IN_WORK],
        views=[(one, one.query == query) for one in document_views(principal)],
        query=query,
        **(bulk_choices(principal) if uploads else {}),
        **(uploader(principal, collection=asked["collection"]) if uploads else {}),
    )


def _column(name: str, title: str | Promise, order: str, asked: dict[str, str]) -> dict[str, Any]:
    """A head of the list with the way to its order; the way of the present one turns it round."""
    is_here = order.removeprefix("-") == name
    turned = name if order.startswith("-") or (not is_here and name in ("title", "uploader")) else f"-{name}"
    query = urlencode({key: value for key, value in {**asked, "order": turned}.items() if value})
    return {
        "title": title,
        "link": f"?{query}",
        "sorted": ("descending" if order.startswith("-") else "ascending") if is_here else "",
    }


@home_page
def document(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Show a document's text with its outline; ``start`` and ``end`` mark a passage of ``version``."""
    principal = principal_of(request)
    row, versions = list_versions(principal, public_id)
    number = whole_number(request.GET.get("version"), digits=9)
    if number is not None and number not in {one.number for one in versions}:
        raise NotFound(_("{path} has no text of version {version}."), path=row.path, version=number)
    text = read_text(principal, row, versions, request.GET)
    shown_in_pages = _version_of(versions, None)
    return render_home(
        request,
        "home/document.html",
        title=row.title,
        document=row,
        facts=document_out(row),
        is_mendable=row.latest_version is not None and row.latest_version.status in MENDABLE,
        versions=versions,
        text=text,
        outline=outline_of(text),
        reviews=list_reviews(principal, document_id=public_id)[:LATEST_REVIEWS],
        pages=page_address(public_id, shown_in_pages, 1) if shown_in_pages else "",
        is_scan=has_read_pages(row.current_version or row.latest_version),
        may_review=Document.objects.visible_to(principal, Scope.REVIEW).readable().filter(pk=row.pk).exists(),
        **(edit_choices(principal, row) if is_changeable(principal, row) else {}),
    )


@home_page
def passage(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Show a passage, marked, with what is around it; with ``part=original`` the original at that place alone.

    :raises NotFound: no such document, or no such version.
    """
    principal = principal_of(request)
    start, end = (whole_number(request.GET.get(name), digits=9) or 0 for name in ("start", "end"))
    number = whole_number(request.GET.get("version"), digits=9)
    row = get_document(principal, public_id)
    shown = around_passage(principal, row, version=number, start=start, end=end)
    is_original_alone = request.GET.get("part") == "original"
    if takes_a_while(shown.version) and not is_original_alone:  # the text doesn't wait for it
        part = urlencode({"version": shown.version.number, "start": start, "end": end, "part": "original"})
        context: dict[str, Any] = {"later": f"{reverse('passage', args=[public_id])}?{part}"}
    else:
        context = _original(principal, row, shown.version.number, start, end)
    return render_home(
        request,
        "home/original.html" if is_original_alone else "home/passage.html",
        title=row.title,
        document=row,
        shown=shown,
        link=document_address(public_id, shown.version.number, start, end),
        **context,
    )


def _original(principal: Principal, document: Document, version: int, start: int, end: int) -> dict[str, Any]:
    """What a page shows of the original at a place: pages with their pictures' addresses, sheets, or why neither."""
    try:
        pages, sheets = original_of(principal, document, version, start, end)
    except (Conflict, TooManyAtOnce, Unavailable) as error:  # the text is there all the same
        return {"not_shown": str(error)}
    pictures = [(one, page_picture_address(document.public_id, version, one.page, WIDTHS[1])) for one in pages]
    return {"pages": pictures, "sheets": sheets}


@home_page
def page(request: HttpRequest, public_id: str, number: int) -> HttpResponseBase:
    """Show a page of the original with the way to its neighbours. :raises NotFound: no such page."""
    principal = principal_of(request)
    row, versions = list_versions(principal, public_id)
    version = _version_of(versions, request.GET.get("version"))
    zoom = whole_number(request.GET.get("width"), digits=4)
    width = zoom if zoom in WIDTHS else None
    drawn = width or WIDTHS[1]
    picture = draw_page(principal, public_id, version=version, page=number, width=drawn)
    return render_home(
        request,
        "home/page.html",
        title=_("{title}, p. {page}").format(title=row.title, page=number),
        document=row,
        version=version,
        number=number,
        picture=picture,
        source=page_picture_address(public_id, version, number, drawn),
        previous=page_address(public_id, version, number - 1, width) if number > 1 else "",
        next=page_address(public_id, version, number + 1, width) if number < picture.pages_count else "",
        widths=[(one, page_address(public_id, version, number, one)) for one in (None, *WIDTHS)],
        width=width,
    )


@home_page
def page_picture(request: HttpRequest, public_id: str, number: int) -> HttpResponseBase:
    """Send a page of the original as a picture. Browsers keep none of it: the next look asks for the right again."""
    principal = principal_of(request)
    version = whole_number(request.GET.get("version"), digits=9) or 0
    width = whole_number(request.GET.get("width"), digits=4) or WIDTHS[1]
    picture = draw_page(principal, public_id, version=version, page=number, width=width)
    return HttpResponse(picture.data, content_type=picture.media_type)


def _version_of(versions: Sequence[DocumentVersion], asked: str | None) -> int:
    """The number that is asked for, or that of the latest version whose pages can be shown; 0 without one."""
    number = whole_number(asked, digits=9)
    return next((one.number for one in versions if number in (one.number, None) and has_pictures(one)), 0)


@home_page
def searchable(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Send a scanned document as a PDF whose words can be searched and copied."""
    name, content = searchable_pdf(principal_of(request), public_id)
    return FileResponse(BytesIO(content), as_attachment=True, filename=name, content_type="application/pdf")


@home_page
def file(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Send the original as a file of a type that no browser opens by itself."""
    version, content = open_original(principal_of(request), public_id)
    return FileResponse(content, as_attachment=True, filename=version.filename, content_type="application/octet-stream")
