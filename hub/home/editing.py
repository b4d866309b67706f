"""Changing what is said of documents, one or several; who changed what; kept views of the list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from hub.access.models import AuditEvent
from hub.access.principals import Classification, Principal, Scope
from hub.admin_site.pages import principal_of
from hub.core.errors import HubError
from hub.home.pages import home_action, home_page, render_home
from knowledge.collections import read_classification
from knowledge.documents.documents import get_document
from knowledge.documents.editing import DocumentChanges, facts_digest, read_metadata, update_document, update_documents
from knowledge.documents.history import WRITTEN, HistoryLine, document_history
from knowledge.documents.views import forget_view, keep_view
from knowledge.models import Collection, Document, DocumentType

MOST_AT_ONCE = 200
LONGEST_METADATA = 20_000
KEPT_QUERY = 1_000
LONGEST_SHOWN = 300
FIELDS = ("title", "document_type", "classification", "collection", "metadata")
ACTIONS: dict[str, str | Promise] = {
    "DOCUMENT_UPLOAD": gettext_lazy("uploaded"),
    "DOCUMENT_CHANGE": gettext_lazy("changed"),
    "DOCUMENT_RESTORE": gettext_lazy("went back to an earlier version"),
    "DOCUMENT_REINDEX": gettext_lazy("worked on again"),
    "LEGAL_HOLD_SET": gettext_lazy("put under a legal hold"),
    "LEGAL_HOLD_LIFT": gettext_lazy("lifted the legal hold"),
}
FIELD_NAMES: dict[str, str | Promise] = {
    "title": gettext_lazy("Title"),
    "document_type_id": gettext_lazy("Document type"),
    "classification": gettext_lazy("Classification"),
    "collection_id": gettext_lazy("Collection"),
    "metadata": gettext_lazy("Metadata"),
}


def bulk_choices(principal: Principal) -> dict[str, Any]:
    """What several documents may be changed to. The collections are asked for when they are shown."""
    return {
        "classifications": [one for one in Classification if one <= principal.ceiling],
        "targets": Collection.objects.visible_to(principal, Scope.UPLOAD).order_by("name"),
    }


def edit_choices(principal: Principal, document: Document, given: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What the form that changes a document shows: its values, or those that somebody typed."""
    now = {
        "title": document.title,
        "document_type": document.document_type_id,
        "classification": Classification(document.classification).short,
        "collection": document.collection.slug,
        "metadata": json.dumps(document.metadata, ensure_ascii=False, indent=1) if document.metadata else "",
    }
    return {
        **bulk_choices(principal),
        "document_types": DocumentType.objects.all(),
        "now": now,
        "values": {name: given.get(name, "") for name in FIELDS} if given is not None else now,
        "digest": facts_digest(document),
        "may_change": True,
    }


@home_action
def change(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Change what is said of a document. What can't be kept comes back with all that was typed.

    Where somebody changed it since the form was opened, both are shown, and the next press of the button counts.
    """
    principal = principal_of(request)
    document = get_document(principal, public_id)
    since = request.POST.get("digest", "")
    if since != facts_digest(document):
        return _again(request, document, 409, "", changed_by=_last_change(principal, public_id))
    try:
        update_document(principal=principal, document_id=public_id, **_changes(request.POST, document))
    except HubError as error:
        return _again(request, document, error.status, str(error))
    messages.success(request, _("Saved."))
    return HttpResponseRedirect(reverse("document", args=[public_id]))


def _changes(given: QueryDict, document: Document) -> DocumentChanges:
    """Read what differs from what is said of the document now. :raises InvalidInput: metadata is no JSON object."""
    changes: DocumentChanges = {}
    if (title := given.get("title", "")) != document.title:
        changes["title"] = title
    if (kind := given.get("document_type", "")) and (kind != document.document_type_id or document.type_guess):
        changes["document_type"] = kind
    level = read_classification(given.get("classification", ""))
    if level is not None and level != document.classification:
        changes["classification"] = level
    if (slug := given.get("collection", "")) and slug != document.collection.slug:
        changes["collection"] = slug
    metadata = read_metadata(given.get("metadata", "")[:LONGEST_METADATA])
    if metadata != document.metadata:
        changes["metadata"] = metadata
    return changes


def _last_change(principal: Principal, public_id: str) -> AuditEvent | None:
    events = (line.event for line in document_history(principal, public_id))
    return next((one for one in events if one.action == "DOCUMENT_CHANGE"), None)


def _again(
    request: HttpRequest, document: Document, status: int, error: str, changed_by: AuditEvent | None = None
) -> HttpResponseBase:
    shown = edit_choices(principal_of(request), document, request.POST)
    return render_home(
        request,
        "home/document_edit.html",
        title=document.title,
        status=status,
        document=document,
        error=error,
        is_overtaken=status == 409 and not error,
        changed_by=changed_by,
        **shown,
    )


@home_action
def change_many(request: HttpRequest) -> HttpResponseBase:
    """Change the chosen documents alike, and lead back to the list."""
    chosen = request.POST.getlist("document")[:MOST_AT_ONCE]
    back = HttpResponseRedirect(f"{reverse('documents')}?{request.POST.get('query', '')[:KEPT_QUERY]}")
    changes: DocumentChanges = {}
    if kind := request.POST.get("document_type", ""):
        changes["document_type"] = kind
    if (level := read_classification(request.POST.get("classification", ""))) is not None:
        changes["classification"] = level
    if slug := request.POST.get("collection", ""):
        changes["collection"] = slug
    if not chosen or not changes:
        messages.error(request, _("Choose documents, and what is to change of them."))
        return back
    done = update_documents(principal=principal_of(request), document_ids=chosen, **changes)
    messages.success(request, _("Changed: {count}.").format(count=len(done.done)))
    for _document_id, error in done.refused:
        messages.error(request, str(error))
    return back


@home_page
def history(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Show who changed what of a document, the latest first."""
    principal = principal_of(request)
    lines = document_history(principal, public_id)
    document = get_document(principal, public_id)
    named: dict[str, Mapping[Any, str]] = {
        "document_type": {one.code: str(one) for one in DocumentType.objects.all()},
        "classification": {one.value: str(one.label) for one in Classification},
        "collection": dict(Collection.objects.visible_to(principal, Scope.READ).values_list("pk", "name")),
    }
    return render_home(
        request,
        "home/history.html",
        title=_("Changes of {title}").format(title=document.title),
        document=document,
        lines=[(line.event, ACTIONS[line.event.action], _changes_in(line, named)) for line in lines],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """A field that was changed, with what was said before and after in words; both empty where they are not shown."""

    field: str
    before: str = ""
    after: str = ""
    is_withheld: bool = False


def _changes_in(line: HistoryLine, named: Mapping[str, Mapping[Any, str]]) -> list[ShownChange]:
    """What a line says of the change: the fields, with before and after where they are kept and may be seen."""
    shown: list[ShownChange] = []
    for column in line.event.details.get("changed", []):
        name, field = str(FIELD_NAMES.get(column, column)), column.removesuffix("_id")
        values = line.event.details.get(field)
        if isinstance(values, list):
            before, after = (named[field].get(value, "") for value in values)
            shown.append(ShownChange(field=name, before=before, after=after, is_withheld=not (before and after)))
        elif field in WRITTEN:
            shown += _written(name, field, line.written)
        else:
            shown.append(ShownChange(field=name))
    return shown


def _written(name: str, field: str, written: Mapping[str, tuple[Any, Any]] | None) -> list[ShownChange]:
    """What people wrote in a field; of metadata each entry that differs by itself."""
    if written is None:
        return [ShownChange(field=name, is_withheld=True)]
    if field not in written:
        return [ShownChange(field=name)]
    before, after = written[field]
    if field != "metadata":
        return [ShownChange(field=name, before=before, after=after)]
    return [
        ShownChange(field=f"{name}: {key}", before=_in_words(before.get(key)), after=_in_words(after.get(key)))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]


def _in_words(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


@home_action
def keep(request: HttpRequest) -> HttpResponseBase:
    """Keep the list as it is looked at now under a name, or forget a name."""
    principal, query = principal_of(request), request.POST.get("query", "")
    if "forget" in request.POST:
        forget_view(principal, request.POST.get("forget", ""))
    else:
        keep_view(principal, request.POST.get("name", ""), query)
    return HttpResponseRedirect(f"{reverse('documents')}?{query[:KEPT_QUERY]}")
