"""The 指摘管理表: which columns it has, and how values are in its cells. Writing and reading share this."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from hub.core.cells import unguarded
from knowledge.text.folding import fold_compact

EARLIEST = (1980, 1, 1, 0, 0, 0)
HEADER_ROW = 4
HIDDEN_SHEET = "_hub"
FORMAT_NAME = "hub-findings-1"
ANSWER_FIELDS = ("plan", "text", "answered_by", "answered_on", "triage", "expires_at", "due_on")
DAY_FIELDS = frozenset({"answered_on", "expires_at", "due_on"})


def without_times(packed: bytes) -> bytes:
    """Pack a zip archive again with one fixed time for all its members, in their order."""
    target = BytesIO()
    with zipfile.ZipFile(BytesIO(packed)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in source.infolist():
            member = zipfile.ZipInfo(entry.filename, date_time=EARLIEST)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, source.read(entry))
    return target.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: what it holds, its heading, its width in characters."""

    field: str
    title: str | Promise
    width: float

    @property
    def is_answer(self) -> bool:
        return self.field in ANSWER_FIELDS


COLUMNS: Sequence[Column] = (
    Column(field="number", title=_("No."), width=6),
    Column(field="severity", title=_("Severity"), width=9),
    Column(field="place", title=_("Section and place"), width=26),
    Column(field="message", title=_("Finding"), width=44),
    Column(field="quotes", title=_("Evidence (quote)"), width=38),
    Column(field="suggestion", title=_("Suggested improvement"), width=44),
    Column(field="guideline", title=_("Related guideline"), width=18),
    Column(field="plan", title=_("Planned action"), width=18),
    Column(field="text", title=_("Answer"), width=36),
    Column(field="answered_by", title=_("Answered by"), width=13),
    Column(field="answered_on", title=_("Answered on"), width=13),
    Column(field="triage", title=_("State"), width=13),
    Column(field="expires_at", title=_("Waived until"), width=13),
    Column(field="due_on", title=_("Due on"), width=13),
)


def cell_key(value: object) -> str:
    """A cell's text without white space, widths and cases: what stays when people copy it around."""
    return fold_compact(str(value or ""))


def mark_of(place: object, message: object) -> str:
    """A short hash of what a row shows of its finding, to tell rows apart whose numbers were written anew."""
    text = "\0".join(cell_key(unguarded(str(part or ""))) for part in (place, message))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
