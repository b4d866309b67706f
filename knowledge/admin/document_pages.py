"""The pages about one document: what it is, how far the work is, its text, file and figures; trying again, deleting."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hub.access.principals import Scope
from hub.admin_site.pages import errors_as_messages, principal_of, render_page
from hub.core.errors import Conflict, HubError, InvalidInput, NotFound
from knowledge.documents.deletion import delete_document
from knowledge.documents.documents import curates
from knowledge.documents.editing import LONGEST_REASON, set_legal_hold
from knowledge.documents.reading import (
    describe_figure_again,
    figure_filename,
    list_documents,
    list_figures,
    list_versions,
    open_figure,
    open_original,
)
from knowledge.documents.reindexing import reindex_document
from knowledge.documents.schemas import document_out
from knowledge.ingest.figures import MEDIA_TYPES, describes_figures
from knowledge.models import Document, DocumentVersion
from knowledge.models.documents import IN_WORK
from knowledge.rendering import outline_of, read_text


def confirm_and_delete(request: HttpRequest, documents: Sequence[Document]) -> HttpResponseBase:
    """Ask whether to delete; a POST with ``confirmed`` does it and says what each receipt counted."""
    if request.method == "POST" and "confirmed" in request.POST:
        for document in documents:
            _delete(request, document)
        return HttpResponseRedirect(reverse("admin:knowledge_document_changelist"))
    return render_page(
        request, "admin/knowledge/document/delete.html", title=_("Delete documents"), documents=documents
    )


def delete_many(request: HttpRequest) -> HttpResponseBase:
    """Take the answer to the question that the list's delete action asked."""
    chosen = [pk for pk in request.POST.getlist("pk") if pk.isascii() and pk.isdigit()]
    return confirm_and_delete(request, list(list_documents(principal_of(request)).filter(pk__in=chosen)))


def _delete(request: HttpRequest, document: Document) -> None:
    with errors_as_messages(request):
        receipt = delete_document(principal=principal_of(request), document_id=document.public_id)
        link = format_html(
            '<a class="hub-link" href="{}">{}</a>',
            reverse("admin:knowledge_deletionreceipt_change", args=[receipt.pk]),
            receipt.public_id,
        )
        text = _("Deleted {path}: {versions} versions, {chunks} chunks, {blobs} files. Receipt {receipt}.")
        messages.success(request, format_html(str(text), path=document.path, **{**receipt.counts, "receipt": link}))


MOST_POLLED = 100


def upload(request: HttpRequest) -> HttpResponseRedirect:
    """Lead to the page where everybody uploads."""
    return HttpResponseRedirect(reverse("upload"))


def detail(request: HttpRequest, document: Document) -> HttpResponseBase:
    """Show state, versions, outline and text; ``start`` and ``end`` mark a passage of ``version``.

    The text is rendered, or with ``stored`` shown as it is stored.
    """
    principal = principal_of(request)
    _document, versions = list_versions(principal, document.public_id)
    text = read_text(principal, document, versions, request.GET)
    is_curator = curates(principal, document)
    reviews = Document.objects.visible_to(principal, Scope.REVIEW).readable().filter(pk=document.pk).exists()
    return render_page(
        request,
        "admin/knowledge/document/detail.html",
        title=document.title,
        document=document,
        facts=document_out(document),
        versions=versions,
        latest=document.latest_version,
        in_work=_is_in_work(document.latest_version),
        text=text,
        as_stored="stored" in request.GET,
        outline=outline_of(text),
        curates=is_curator,
        longest_reason=LONGEST_REASON,
        may_change=is_curator or document.owner_id == principal.user_id,
        may_review=reviews,
    )


def _is_in_work(version: DocumentVersion | None) -> bool:
    return version is not None and version.status in IN_WORK


@require_GET
@never_cache
def progress(request: HttpRequest) -> JsonResponse:
    """Answer {number: {status, label, progress, reason, done}} for the documents in ``of`` (at most 100)."""
    asked = [text for text in request.GET.get("of", "").split(",") if text.isascii() and text.isdigit()]
    documents = list_documents(principal_of(request)).filter(pk__in=asked[:MOST_POLLED])
    return JsonResponse({str(document.pk): _progress_of(document) for document in documents})


def _progress_of(document: Document) -> dict[str, object]:
    version = document.latest_version
    if version is None or document.retired_at is not None:
        return {"status": "retired", "label": "", "progress": 0, "reason": "", "done": True}
    return {
        "status": version.status,
        "label": version.get_status_display(),
        "progress": version.progress,
        "reason": version.status_reason or "",
        "done": not _is_in_work(version),
    }


def _to_page(pk: int, more: str = "") -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:knowledge_document_change", args=[pk]) + more)


def find_document(request: HttpRequest, **which: object) -> Document:
    """Find a document that the person may see. :raises Http404: there is none."""
    document = list_documents(principal_of(request)).filter(**which).first()
    if document is None:
        raise Http404
    return document


@require_GET
def by_public_id(request: HttpRequest, public_id: str) -> HttpResponseRedirect:
    """Lead from a public id (search results, findings) to the document's page, the marked passage included."""
    document = find_document(request, public_id=public_id)
    query = f"?{request.GET.urlencode()}#passage" if request.GET else ""
    return _to_page(document.pk, query)


@require_GET
def download(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the original as an attachment of a type that no browser opens by itself."""
    document = find_document(request, pk=pk)
    try:
        version, file = open_original(principal_of(request), document.public_id)
    except HubError as error:
        messages.error(request, str(error))
        return _to_page(pk)
    return FileResponse(file, as_attachment=True, filename=version.filename, content_type="application/octet-stream")


@require_POST
def hold(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    """Place a legal hold for the given reason, or lift it with none."""
    document = find_document(request, pk=pk)
    reason = "" if "lift" in request.POST else request.POST.get("reason", "")
    with errors_as_messages(request):
        if not reason.strip() and "lift" not in request.POST:
            raise InvalidInput(_("Give the reason of the legal hold."), field="legal_hold")
        held = set_legal_hold(principal=principal_of(request), document_id=document.public_id, reason=reason)
        done = _("The document is under a legal hold now.") if held.legal_hold else _("The legal hold was lifted.")
        messages.success(request, done)
    return _to_page(pk)


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    document = find_document(request, pk=pk)
    with errors_as_messages(request):
        reindex_document(principal=principal_of(request), document_id=document.public_id)
        messages.success(request, _("Started again: {count}.").format(count=1))
    return _to_page(pk)


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
        return _to_page(pk)
    is_curator = curates(principal, document)
    return render_page(
        request,
        "admin/knowledge/document/figures.html",
        title=_("Figures of {title}").format(title=document.title),
        document=document,
        page=Paginator(found, PER_PAGE).get_page(request.GET.get("page")),
        shown_types=SHOWN_TYPES,
        described_types=MEDIA_TYPES,
        may_describe=describes_figures() and (is_curator or document.owner_id == principal.user_id),
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
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


@require_POST
def describe(request: HttpRequest, pk: int, figure_id: str) -> HttpResponseRedirect:
    document = find_document(request, pk=pk)
    with errors_as_messages(request):
        describe_figure_again(principal=principal_of(request), document_id=document.public_id, figure_id=figure_id)
        messages.success(request, _("The figure will be described; reload the page in a moment."))
    return redirect(reverse("admin:knowledge_document_figures", args=[pk]) + f"#{figure_id}")
