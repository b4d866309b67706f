"""What the hub keeps as proof: receipts of deletions."""

from __future__ import annotations

from datetime import datetime

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.admin_site.base import ReadOnlyMixin
from hub.admin_site.callers import principal_of
from hub.admin_site.keyset import KeysetModelAdmin
from knowledge.collections.collections import curates_some_collection
from knowledge.models import Collection, DeletionReceipt

FACTS = ("receipt", "document", "collection")
# What a receipt counts, as people call it; a name that is not here is shown as it stands.
COUNTED = {
    "versions": _("versions"),
    "chunks": _("chunks"),
    "blobs": _("files"),
    "figures": _("figures"),
    "graph": _("entries of the knowledge graph"),
}


@admin.register(DeletionReceipt)
class DeletionReceiptAdmin(ReadOnlyMixin, KeysetModelAdmin):
    """Curators see the receipts of the collections that they curate, superusers all."""

    list_display = (*FACTS, "deleted", "who", "when")
    fields = readonly_fields = (*FACTS, "everything", "who", "when")
    search_fields = ("public_id", "document_id", "collection_slug")

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return principal.is_superuser or curates_some_collection(
            principal
        )  # the queryset holds only what the person may see

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeletionReceipt]:
        """Keep the receipts of collections that the person curates; of one that is gone, for superusers."""
        principal = principal_of(request)
        shown = DeletionReceipt.objects.filter(classification__lte=principal.ceiling)
        if principal.is_superuser:
            return shown
        # by key, which no later collection gets: who makes one with an old slug reads nothing of the former one
        return shown.filter(collection_key__in=Collection.objects.visible_to(principal, Scope.CURATE).values("pk"))

    @admin.display(description=_("receipt"))
    def receipt(self, receipt: DeletionReceipt) -> str:
        """Show the receipt's id."""
        return receipt.public_id

    @admin.display(description=_("document id"))
    def document(self, receipt: DeletionReceipt) -> str:
        """Show the id that the document had."""
        return receipt.document_id

    @admin.display(description=_("collection"))
    def collection(self, receipt: DeletionReceipt) -> str:
        """Show the slug of the collection that it was in."""
        return receipt.collection_slug

    @admin.display(description=_("deleted"))
    def deleted(self, receipt: DeletionReceipt) -> str:
        """Show the most of what went."""
        return str(
            _("{versions} versions, {chunks} chunks, {blobs} files").format(
                versions=receipt.counts.get("versions", 0),
                chunks=receipt.counts.get("chunks", 0),
                blobs=receipt.counts.get("blobs", 0),
            )
        )

    @admin.display(description=_("deleted"))
    def everything(self, receipt: DeletionReceipt) -> SafeString:
        """Show all that went, a line for each kind."""
        lines = [(COUNTED.get(name, name.replace("_", " ")), number) for name, number in receipt.counts.items()]
        return format_html_join("", '<span class="hub-first">{}: {}</span>', lines)

    @admin.display(description=_("who"))
    def who(self, receipt: DeletionReceipt) -> str:
        """Show who deleted it."""
        return receipt.principal

    @admin.display(description=_("at"))
    def when(self, receipt: DeletionReceipt) -> datetime:
        """Show when it was deleted."""
        return receipt.deleted_at
