"""Documents picked by title: the field of a form, and what its script asks for."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import F, Value
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from unfold.widgets import UnfoldAdminTextInputWidget

from hub.access.principals import Principal, Scope
from hub.admin_site.pages import principal_of
from hub.core.arrays import IsAnyOf
from knowledge.documents.reading import list_documents
from knowledge.models import Document

MOST_OFFERED = 12


def document_picker(scope: str, *, most: int) -> UnfoldAdminTextInputWidget:
    """A field of ids of ``most`` documents, which the page's script lets people pick by title.

    ``scope`` is what they may do with those that are offered: review or read.
    """
    kept = {"data-picker": scope, "data-most": str(most), "autocomplete": "off", "spellcheck": "false"}
    return UnfoldAdminTextInputWidget(attrs=kept)


@require_GET
@never_cache
def offer(request: HttpRequest) -> JsonResponse:
    """Offer documents whose title or path has the words ``q``: {found: [{id, title, hint}]}, at most MOST_OFFERED.

    With ``scope=review`` those with a text that the person may have reviewed, else those they may read.
    """
    principal = principal_of(request)
    found = list_documents(principal, query=request.GET.get("q", "").strip()).live()
    if request.GET.get("scope") == "review":
        found = found.readable().filter(pk__in=Document.objects.visible_to(principal, Scope.REVIEW).values("pk"))
    rows = found.select_related("document_type", "latest_version")[:MOST_OFFERED]
    offered = []
    for one in rows:
        facts = (str(one.document_type or ""), one.collection.name, one.path)
        offered.append({"id": one.public_id, "title": one.title, "hint": " · ".join(filter(None, facts))})
    return JsonResponse({"found": offered})


def titles_of(principal: Principal, ids: Sequence[str]) -> dict[str, str]:
    """The titles of documents that the person may read, by id. One query, or none."""
    found = list_documents(principal).filter(IsAnyOf(F("public_id"), Value(list(ids)))) if ids else ()
    return {one.public_id: one.title for one in found}
