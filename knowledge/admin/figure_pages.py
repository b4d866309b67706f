"""The pages about a document's figures: what each shows, its picture, and having it described again."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from hub.access.principals import Scope
from hub.admin_site.callers import errors_as_messages, principal_of
from hub.admin_site.pages import render_page
from hub.core.errors import Conflict, NotFound
from knowledge.admin.document_pages import find_document
from knowledge.documents.figures import describe_figure_again, figure_filename, list_figures, open_figure
from knowledge.ingest.figure_descriptions import MEDIA_TYPES, describes_figures
from knowledge.models import Collection

PER_PAGE = 24
# What browsers draw and can't be a program; anything else is a file to save.
SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})


@require_GET
def figures(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the figures of the version a reader sees, 24 a page."""
    principal = principal_of(request)
    document = find_document(request, pk=pk)
    try:
        found = list_figures(principal, document.public_id)
    except Conflict as error:
        messages.info(request, str(error))
        return HttpResponseRedirect(reverse("admin:knowledge_document_change", args=[pk]))
    curates = Collection.objects.visible_to(principal, Scope.CURATE).filter(pk=document.collection_id).exists()
    return render_page(
        request,
        "admin/knowledge/document/figures.html",
        title=_("Figures of {title}").format(title=document.title),
        document=document,
        page=Paginator(found, PER_PAGE).get_page(request.GET.get("page")),
        shown_types=SHOWN_TYPES,
        described_types=MEDIA_TYPES,
        may_describe=describes_figures() and (curates or document.owner_id == principal.user_id),
    )


@require_GET
def picture(request: HttpRequest, pk: int, figure_id: str) -> HttpResponseBase:
    """Send one picture; kinds that could hold a script, or that browsers don't draw, as a file to save."""
    document = find_document(request, pk=pk)
    try:
        figure, file = open_figure(principal_of(request), document.public_id, figure_id)
    except (NotFound, Conflict) as error:
        raise Http404 from error
    is_shown = figure.media_type in SHOWN_TYPES
    content_type = figure.media_type if is_shown else "application/octet-stream"
    response = FileResponse(
        file, as_attachment=not is_shown, filename=figure_filename(figure), content_type=content_type
    )
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


@require_POST
def describe(request: HttpRequest, pk: int, figure_id: str) -> HttpResponseRedirect:
    """Have one figure described again."""
    document = find_document(request, pk=pk)
    with errors_as_messages(request):
        describe_figure_again(principal=principal_of(request), document_id=document.public_id, figure_id=figure_id)
        messages.success(request, _("The figure will be described; reload the page in a moment."))
    return redirect(reverse("admin:knowledge_document_figures", args=[pk]) + f"#{figure_id}")
