"""Chunks: a read-only list that stays fast at a million rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.services import record_event
from hub.admin_site.base import ReadOnlyMixin, column, everybody
from hub.admin_site.keyset import KeysetChangeList, KeysetModelAdmin
from hub.admin_site.pages import principal_of
from knowledge.admin.fields import ChunkCollectionFilter, ContentFilter
from knowledge.models import Chunk, Document

EXCERPT_CHARS = 120


class ChunkChangeList(KeysetChangeList):
    """A page of the list shows the beginnings of passages, which is reading."""

    def get_results(self, request: HttpRequest) -> None:
        """Load the page that the query names. One query, and one statement for the line."""
        super().get_results(request)
        shown = cast(Sequence[Chunk], self.result_list)
        documents = sorted({chunk.version.document.public_id for chunk in shown})
        if documents:
            facts = {"part": "passages", "documents": documents, "passages": len(shown)}
            record_event(principal_of(request), "DOCUMENT_READ", "", **facts)


@admin.register(Chunk)
class ChunkAdmin(ReadOnlyMixin, KeysetModelAdmin):
    list_display = ("chunk_id", "document", "index", "section", "page", "cell", "token_count", "excerpt")
    list_filter = (ChunkCollectionFilter, ContentFilter)
    search_fields = ("public_id",)
    search_help_text = _("Id of a chunk (chk_…) or of a document (doc_…)")
    fields = (
        "chunk_id",
        "document",
        "index",
        "section",
        "page",
        "cell",
        "token_count",
        "contains",
        "place",
        "added",
        "verbatim",
    )
    readonly_fields = ("chunk_id", "document", "section", "contains", "place", "added", "verbatim")

    may_view = everybody  # the queryset holds only what the person may read

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chunk]:
        """Keep the chunks of visible documents; a list row needs the beginning of the text only."""
        principal = principal_of(request)
        rows = Chunk.objects.select_related("version__document").order_by("-pk")
        rows = rows.filter(version__document__in=Document.objects.visible_to(principal))
        return rows.annotate(beginning=Left("content", EXCERPT_CHARS)).defer("content", "context_prefix")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Chunk], search_term: str
    ) -> tuple[QuerySet[Chunk], bool]:
        """Find by id, which is indexed; the text is searched on the search page."""
        if not search_term:
            return queryset, False
        if search_term.startswith("doc_"):
            return queryset.filter(version__document__public_id=search_term), False
        return queryset.filter(public_id=search_term), False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetChangeList]:  # noqa: ANN401
        return ChunkChangeList

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        *args: Any,  # noqa: ANN401
        obj: Chunk | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> HttpResponseBase:
        """Show one passage, which is reading it."""
        if obj is not None:
            facts = {"part": "passages", "version": obj.version.number, "chunk": obj.public_id, "passages": 1}
            record_event(principal_of(request), "DOCUMENT_READ", f"document:{obj.version.document.public_id}", **facts)
        response: HttpResponseBase = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response

    chunk_id = column(_("id"), "public_id")

    @admin.display(description=_("contains"))
    def contains(self, chunk: Chunk) -> str:
        parts = [chunk.language or "", _("table") if chunk.has_table else "", _("figure") if chunk.has_figure else ""]
        return ", ".join(str(part) for part in parts if part) or "-"

    @admin.display(description=_("added for the model"))
    def added(self, chunk: Chunk) -> SafeString:
        """Show what the embedding model sees before the content: headings, repeated table headers."""
        return format_html('<pre class="hub-text">{}</pre>', chunk.context_prefix or "-")

    @admin.display(description=_("document"))
    def document(self, chunk: Chunk) -> SafeString:
        link = reverse("admin:knowledge_document_change", args=[chunk.version.document_id])
        place = f"?version={chunk.version.number}&start={chunk.start_offset}&end={chunk.end_offset}#passage"
        return format_html(
            '<a class="hub-link" href="{}{}">{} v{}</a>', link, place, chunk.version.document, chunk.version.number
        )

    @admin.display(description=_("section"))
    def section(self, chunk: Chunk) -> str:
        return " › ".join(chunk.section_path) or "-"

    @admin.display(description=_("content"))
    def excerpt(self, chunk: Chunk) -> str:
        return " ".join(str(chunk.__dict__["beginning"]).split())

    @admin.display(description=_("place"))
    def place(self, chunk: Chunk) -> str:
        return f"[{chunk.start_offset}, {chunk.end_offset})"

    @admin.display(description=_("content"))
    def verbatim(self, chunk: Chunk) -> SafeString:
        return format_html('<pre class="hub-text">{}</pre>', chunk.content)
