"""Deleting documents in the admin: a question, then the service, then the receipts."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from hub.admin_site.callers import errors_as_messages, principal_of
from hub.admin_site.pages import render_page
from knowledge.documents.deletion import delete_document
from knowledge.models import Document


def confirm_and_delete(request: HttpRequest, documents: Sequence[Document]) -> HttpResponseBase:
    """Ask whether to delete; a POST with ``confirmed`` does it and tells what each receipt counted."""
    if request.method == "POST" and "confirmed" in request.POST:
        for document in documents:
            _delete(request, document)
        return HttpResponseRedirect(reverse("admin:knowledge_document_changelist"))
    return render_page(
        request, "admin/knowledge/document/delete.html", title=_("Delete documents"), documents=documents
    )


def _delete(request: HttpRequest, document: Document) -> None:
    with errors_as_messages(request):
        receipt = delete_document(principal=principal_of(request), document_id=document.public_id)
        link = format_html(
            '<a class="hub-link" href="{}">{}</a>',
            reverse("admin:knowledge_deletionreceipt_change", args=[receipt.pk]),
            receipt.public_id,
        )
        told = _("Deleted {path}: {versions} versions, {chunks} chunks, {blobs} files. Receipt {receipt}.")
        messages.success(request, format_html(str(told), path=document.path, **{**receipt.counts, "receipt": link}))
