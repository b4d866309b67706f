"""Who changed what of a document: the lines of the audit trail, with the values that people wrote beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hub.access.models import AuditEvent
from hub.access.principals import Principal, Scope
from knowledge.documents.documents import changeable_document
from knowledge.models import Collection, Document, DocumentEdit

CHANGES = (
    *("DOCUMENT_UPLOAD", "DOCUMENT_CHANGE", "DOCUMENT_RESTORE", "DOCUMENT_REINDEX"),
    *("LEGAL_HOLD_SET", "LEGAL_HOLD_LIFT"),
)
MOST_CHANGES = 50
WRITTEN = ("title", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    """A line of the audit trail; what people wrote before and after it by field, None where the caller may not see it.

    ``written`` is empty for lines that changed nothing of that kind, and for those of before such values were kept.
    """

    event: AuditEvent
    written: Mapping[str, tuple[Any, Any]] | None


def document_history(principal: Principal, document_id: str) -> Sequence[HistoryLine]:
    """Who changed what of a document, the latest first, MOST_CHANGES at most; as far as the audit trail reaches back.

    For those who may change it. Values of a time when the document was where the caller may not read, or was of a
    classification above theirs, are withheld. Raises NotFound, Forbidden.
    """
    document = changeable_document(principal, document_id)
    lines = AuditEvent.objects.filter(resource=f"document:{document_id}", action__in=CHANGES).order_by("-pk")
    edits = {one.pk: one for one in DocumentEdit.objects.filter(document=document)}
    readable = set(Collection.objects.visible_to(principal, Scope.READ).values_list("pk", flat=True))

    def written(event: AuditEvent) -> Mapping[str, tuple[Any, Any]] | None:
        edit = edits.get(event.details.get("edit"))
        if edit is None:
            return {}
        if edit.classification > principal.ceiling or not readable.issuperset(edit.collection_ids):
            return None
        return {field: (before, after) for field, (before, after) in edit.values.items()}

    return [HistoryLine(event=event, written=written(event)) for event in lines[:MOST_CHANGES]]


def keep_written(document: Document, values: Mapping[str, Any]) -> dict[str, int]:
    """Keep what people wrote that ``values`` replace, and return what the line of the audit trail says of it.

    ``document`` is as it was before. The oldest beyond MOST_CHANGES of a document go. Call it in the transaction of the
    change.
    """
    changed = {
        name: [getattr(document, name), values[name]]
        for name in WRITTEN
        if name in values and values[name] != getattr(document, name)
    }
    if not changed:
        return {}
    edit = DocumentEdit.objects.create(
        document_id=document.pk,
        values=changed,
        collection_ids=sorted({document.collection_id, values.get("collection_id", document.collection_id)}),
        classification=max(document.classification, values.get("classification", document.classification)),
    )
    kept = DocumentEdit.objects.filter(document_id=document.pk).order_by("-pk")[:MOST_CHANGES]
    DocumentEdit.objects.filter(document_id=document.pk).exclude(pk__in=kept.values("pk")).delete()
    return {"edit": edit.pk}
