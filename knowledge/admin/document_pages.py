"""The pages about one document: what it is, how far the work is, its text; its file, and trying again."""

from __future__ import annotations

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hub.access.principals import Scope
from hub.admin_site.callers import errors_as_messages, principal_of
from hub.admin_site.pages import render_page
from hub.core.errors import HubError, InvalidInput
from knowledge.admin.document_text import outline_of, read_text
from knowledge.documents.editing import LONGEST_REASON, set_legal_hold
from knowledge.documents.reading import list_documents, list_versions, open_original
from knowledge.documents.reindexing import reindex_document
from knowledge.documents.schemas import document_out
from knowledge.models import Collection, Document, DocumentVersion
from knowledge.models.documents import IN_WORK

MOST_POLLED = 100


def detail(request: HttpRequest, document: Document) -> HttpResponseBase:
    """Show state, versions, outline and text; ``start`` and ``end`` mark a passage of ``version``.

    The text is rendered, or with ``stored`` shown as it is stored.
    """
    principal = principal_of(request)
    _document, versions = list_versions(principal, document.public_id)
    text = read_text(principal, document, versions, request.GET)
    curates = Collection.objects.visible_to(principal, Scope.CURATE).filter(pk=document.collection_id).exists()
    reviews = Document.objects.visible_to(principal, Scope.REVIEW).filter(pk=document.pk).exists()
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
        curates=curates,
        longest_reason=LONGEST_REASON,
        may_change=curates or document.owner_id == principal.user_id,
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
    return HttpResponseRedirect(reverse("admin:knowledge_document_change", args=[document.pk]) + query)


@require_GET
def download(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the original as an attachment of a type that no browser opens by itself."""
    document = find_document(request, pk=pk)
    try:
        version, file = open_original(principal_of(request), document.public_id)
    except HubError as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(reverse("admin:knowledge_document_change", args=[pk]))
    response = FileResponse(
        file, as_attachment=True, filename=version.filename, content_type="application/octet-stream"
    )
    response["X-Content-Type-Options"] = "nosniff"
    return response


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
    return HttpResponseRedirect(reverse("admin:knowledge_document_change", args=[pk]))


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    """Work on the latest version again."""
    document = find_document(request, pk=pk)
    with errors_as_messages(request):
        reindex_document(principal=principal_of(request), document_id=document.public_id)
        messages.success(request, _("Started again: {count}.").format(count=1))
    return HttpResponseRedirect(reverse("admin:knowledge_document_change", args=[pk]))
