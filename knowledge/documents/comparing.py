"""Two versions of a document side by side, as their stored texts have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.access.turns import Turns
from hub.core.errors import Conflict, NotFound
from hub.core.processes import PerProcess
from knowledge.documents.documents import get_document
from knowledge.models import Document, VersionContent
from knowledge.text.line_differences import LinePair, compare_lines

# A text of a megabyte takes seconds. Of each person one at a time, and one more that waits: who pages through.
AT_ONCE, MOST_WAIT_S = 2, 10.0
_turns = PerProcess(lambda: Turns(most=AT_ONCE, most_waiting=1, wait_s=MOST_WAIT_S))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedVersions:
    """Two versions of a document by number, and their lines in pairs; ``numbers`` are all that have a text."""

    document: Document
    before: int
    after: int
    numbers: Sequence[int]
    pairs: Sequence[LinePair]


def compare_versions(
    principal: Principal, document_id: str, *, before: int | None = None, after: int | None = None
) -> ComparedVersions:
    """Compare two versions of a document: the newest with the one before it, where nothing else is asked for.

    Raises NotFound, also for a version without a text; Conflict while there is only one; and as `Turns.taken_by`.
    Reading is written to the audit trail.
    """
    document = get_document(principal, document_id)
    contents = VersionContent.objects.filter(version__document=document)
    numbers = list(contents.order_by("version__number").values_list("version__number", flat=True))
    if missing := [number for number in (before, after) if number is not None and number not in numbers]:
        raise NotFound(
            _("{path} has no text of version {version}."),
            code="version_not_found",
            path=document.path,
            version=missing[0],
        )
    if len(numbers) < 2:
        raise Conflict(_("{path} has no second version to compare with."), code="one_version", path=document.path)
    newest = after or numbers[-1]
    earlier = before or max((number for number in numbers if number < newest), default=numbers[0])
    texts = dict(contents.filter(version__number__in=(earlier, newest)).values_list("version__number", "markdown"))
    record_event(principal, "DOCUMENT_READ", f"document:{document_id}", part="difference", version=newest, base=earlier)
    with _turns.get().taken_by(principal):
        pairs = compare_lines(texts[earlier], texts[newest])
    return ComparedVersions(document=document, before=earlier, after=newest, numbers=numbers, pairs=pairs)
