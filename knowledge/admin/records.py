"""What the hub keeps as proof: receipts of deletions."""

from __future__ import annotations

from datetime import datetime

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from hub.admin_site.base import ReadOnlyMixin
from hub.admin_site.keyset import KeysetModelAdmin
from knowledge.models import DeletionReceipt


@admin.register(DeletionReceipt)
class DeletionReceiptAdmin(ReadOnlyMixin, KeysetModelAdmin):
    list_display = fields = readonly_fields = ("receipt", "document", "collection", "deleted", "who", "when")
    search_fields = ("public_id", "document_id", "collection_slug")

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
        """Show what went."""
        return str(
            _("{versions} versions, {chunks} chunks, {blobs} files").format(
                versions=receipt.counts.get("versions", 0),
                chunks=receipt.counts.get("chunks", 0),
                blobs=receipt.counts.get("blobs", 0),
            )
        )

    @admin.display(description=_("who"))
    def who(self, receipt: DeletionReceipt) -> str:
        """Show who deleted it."""
        return receipt.principal

    @admin.display(description=_("at"))
    def when(self, receipt: DeletionReceipt) -> datetime:
        """Show when it was deleted."""
        return receipt.deleted_at
