"""What retention would delete next, and the receipts of what was deleted."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.admin_site.base import ReadOnlyMixin, column
from hub.admin_site.keyset import KeysetModelAdmin
from hub.admin_site.pages import admin_page, principal_of, render_page
from knowledge.collections import curates_some_collection
from knowledge.documents.deletion import due_documents, preview_retention, retention_days
from knowledge.models import Collection, DeletionReceipt

FACTS = ("receipt", "document", "collection")
# What a receipt counts, as people call it; a name that is not here is shown as it is.
COUNTED = {
    "versions": _("versions"),
    "chunks": _("chunks"),
    "blobs": _("files"),
    "keys_destroyed": _("files whose key was destroyed"),
    "overwritten": _("files overwritten"),
    "only_removed": _("files removed without overwriting"),
    "figures": _("figures"),
    "graph": _("entries of the knowledge graph"),
    "reviews": _("reviews whose texts were erased"),
    "findings": _("findings whose texts were erased"),
}


@admin.register(DeletionReceipt)
class DeletionReceiptAdmin(ReadOnlyMixin, KeysetModelAdmin):
    """Curators see the receipts of the collections that they curate, superusers all."""

    list_display = ("when", "collection", "deleted", "who", "receipt")
    fields = readonly_fields = (*FACTS, "everything", "who", "when")
    search_fields = ("public_id", "document_id", "collection_slug")

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        # the queryset holds only what the person may see
        return principal.may(HubRight.AUDIT) or curates_some_collection(principal)

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeletionReceipt]:
        """Keep the receipts of collections that the person curates; of one that is gone, for auditors of the hub."""
        principal = principal_of(request)
        shown = DeletionReceipt.objects.filter(classification__lte=principal.ceiling)
        if principal.may(HubRight.AUDIT):
            return shown
        # by key, which no later collection gets: who makes one with an old slug reads nothing of the former one
        return shown.filter(collection_key__in=Collection.objects.visible_to(principal, Scope.CURATE).values("pk"))

    receipt = column(_("receipt"), "public_id")
    document = column(_("document id"), "document_id")
    collection = column(_("collection"), "collection_slug")

    @admin.display(description=_("deleted"))
    def deleted(self, receipt: DeletionReceipt) -> str:
        return str(
            _("{versions} versions, {chunks} chunks, {blobs} files").format(
                versions=receipt.counts.get("versions", 0),
                chunks=receipt.counts.get("chunks", 0),
                blobs=receipt.counts.get("blobs", 0),
            )
        )

    @admin.display(description=_("deleted"))
    def everything(self, receipt: DeletionReceipt) -> SafeString:
        lines = [(COUNTED.get(name, name.replace("_", " ")), number) for name, number in receipt.counts.items()]
        return format_html_join("", '<span class="hub-first">{}: {}</span>', lines)

    who = column(_("who"), "principal")
    when = column(_("at"), "deleted_at")


SHOWN = 200


@admin_page("retention/", name="hub_retention")
def retention_page(request: HttpRequest) -> HttpResponseBase:
    """Show each collection's period with what is due and what is held, and the documents, the longest due first."""
    principal = principal_of(request)
    curated = set(Collection.objects.visible_to(principal, Scope.CURATE).values_list("pk", flat=True))
    rows = list(due_documents(principal)[: SHOWN + 1])
    return render_page(
        request,
        "admin/hub/retention.html",
        title=_("Retention"),
        previews=[(preview, preview.collection.pk in curated) for preview in preview_retention(principal)],
        due=[
            {
                "document": document,
                "since": document.updated_at + timedelta(days=retention_days(document.collection) or 0),
            }
            for document in rows[:SHOWN]
        ],
        is_cut=len(rows) > SHOWN,
        shown=SHOWN,
    )
