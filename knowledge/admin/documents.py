"""Documents: the list with its actions. The pages about one document are in document_pages."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.admin_site.base import everybody, nobody
from hub.admin_site.keyset import KeysetModelAdmin
from hub.admin_site.pages import badge, errors_as_messages, principal_of, progress_bar, two_lines
from knowledge.admin import document_pages, document_picker
from knowledge.admin.document_pages import confirm_and_delete
from knowledge.admin.fields import CollectionFilter, StateFilter, TypeFilter
from knowledge.documents.reading import list_documents
from knowledge.documents.reindexing import cancel_reading, retry_documents
from knowledge.models import Collection, Document, DocumentStatus
from knowledge.models.documents import IN_WORK

REASON_CHARS = 80


@admin.register(Document)
class DocumentAdmin(KeysetModelAdmin):
    """Documents come by upload, are worked on by the pipeline and go by the delete service; nothing is edited."""

    list_display = ("title_and_path", "collection", "document_type", "state", "reason", "age", "tries", "edition")
    list_filter = (StateFilter, CollectionFilter, TypeFilter)
    search_fields = ("title", "path")
    search_help_text = _("Title or path")
    actions = ("retry", "cancel_ocr", "delete_documents")
    pages = {
        "knowledge_document_upload": ("upload/", document_pages.upload),
        "knowledge_document_offered": ("offered/", document_picker.offer),
        "knowledge_document_progress": ("progress/", document_pages.progress),
        "knowledge_document_delete_many": ("delete/", document_pages.delete_many),
        "knowledge_document_by_id": ("id/<str:public_id>/", document_pages.by_public_id),
        "knowledge_document_file": ("<int:pk>/file/", document_pages.download),
        "knowledge_document_figures": ("<int:pk>/figures/", document_pages.figures),
        "knowledge_document_figure": ("<int:pk>/figures/<str:figure_id>/", document_pages.picture),
        "knowledge_document_figure_describe": ("<int:pk>/figures/<str:figure_id>/describe/", document_pages.describe),
        "knowledge_document_hold": ("<int:pk>/hold/", document_pages.hold),
        "knowledge_document_retry": ("<int:pk>/retry/", document_pages.retry),
    }

    may_view = everybody  # the queryset holds only what the person may read

    def may_add(self, principal: Principal) -> bool:
        return Collection.objects.visible_to(principal, Scope.UPLOAD).exists()

    may_change = nobody
    may_delete = nobody  # Django's own deletion never runs; ours asks the service

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        return list_documents(principal_of(request)).select_related("collection", "latest_version", "document_type")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:knowledge_document_upload"))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show the document; one that the person may not see answers like one that is not there."""
        document = self.get_object(request, object_id)
        if document is None:
            return self.not_found(request, object_id)
        return document_pages.detail(request, document)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        document = self.get_object(request, object_id)
        if document is None:
            return self.not_found(request, object_id)
        return confirm_and_delete(request, [document])

    @admin.action(description=_("Work on the selected documents again"))
    def retry(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Start each document's latest version again; what the service refuses is shown document by document."""
        ids = list(queryset.values_list("public_id", flat=True))
        done = retry_documents(principal=principal_of(request), document_ids=ids)
        for _document_id, error in done.refused:
            messages.error(request, str(error))
        if done.done:
            messages.success(request, _("Started again: {count}.").format(count=len(done.done)))

    @admin.action(description=_("Stop reading the selected documents with OCR"))
    def cancel_ocr(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Let each go on with the pages that were read; what is refused is shown document by document."""
        for document_id in queryset.values_list("public_id", flat=True):
            with errors_as_messages(request):
                document = cancel_reading(principal=principal_of(request), document_id=document_id)
                messages.success(request, _("Stopped: {path}.").format(path=document.path))

    @admin.action(description=_("Delete the selected documents"))
    def delete_documents(self, request: HttpRequest, queryset: QuerySet[Document]) -> HttpResponseBase:
        return confirm_and_delete(request, list(queryset))

    @admin.display(description=_("document"))
    def title_and_path(self, document: Document) -> SafeString:
        return two_lines(document.title, document.path)

    @admin.display(description=_("state"))
    def state(self, document: Document) -> SafeString:
        version = document.latest_version
        if document.retired_at or version is None:
            return badge("retired", DocumentStatus.RETIRED.label)
        shown = badge(version.status, version.get_status_display())
        if version.status not in IN_WORK:
            return shown
        bar = progress_bar(version.progress)
        return format_html('<span class="hub-work" data-progress-of="{}">{}{}</span>', document.pk, shown, bar)

    @admin.display(description=_("reason"))
    def reason(self, document: Document) -> SafeString:
        """Show the beginning of the reason; all of it on hovering."""
        text = (document.latest_version.status_reason if document.latest_version else None) or ""
        return format_html('<span title="{}">{}</span>', text, Truncator(text).chars(REASON_CHARS))

    @admin.display(description=_("age"))
    def age(self, document: Document) -> SafeString:
        since = document.latest_version.created_at if document.latest_version else document.created_at
        return format_html(
            '<span title="{}">{}</span>',
            timezone.localtime(since).strftime("%Y-%m-%d %H:%M"),
            timesince(since, depth=1),
        )

    @admin.display(description=_("attempts"))
    def tries(self, document: Document) -> int | str:
        return document.latest_version.attempts if document.latest_version else "-"

    @admin.display(description=_("version and chunks"))
    def edition(self, document: Document) -> SafeString | str:
        version = document.latest_version
        if version is None:
            return "-"
        if version.chunks_count is None:
            return f"v{version.number}"
        return two_lines(f"v{version.number}", _("{count} chunks").format(count=version.chunks_count))
