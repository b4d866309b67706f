"""The annotated copy: making it of the version that was reviewed, and reading one that came back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from django.utils.translation import gettext as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import Conflict
from knowledge.documents.documents import get_document
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import DocumentVersion, VersionContent
from knowledge.originals import annotate_original, can_annotate, read_notes
from knowledge.parsers.annotated.notes import Markup
from knowledge.types.documents import Block
from review.models import Review
from review.report.annotated.marked_text import mark_text
from review.report.annotated.notes import notes_of, quotes_by_note
from review.report.annotated.references import written_at
from review.report.annotated.returned import Quoted, read_returned, without_known, words_by_note
from review.report.annotated.suggestion_diff import suggestion_diff
from review.report.answer_file import AnswerFile
from review.report.facts import ReportFacts
from review.report.names import name_to_file_by

CONTENT_TYPES = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pdf": "application/pdf",
}
_TEXTS = frozenset({"md", "txt"})


class Copy(NamedTuple):
    """An annotated copy as a file."""

    content: bytes
    content_type: str
    filename: str


def annotated_copy(principal: Principal, facts: ReportFacts) -> Copy:
    """Copy the reviewed version with the findings that the caller is shown, each at its words.

    The caller must be allowed to download the original. Formats that can't have notes give their text as the hub has
    read it, as Markdown with marks; with tracked changes Markdown and text give their corrections as a diff, if any.

    :raises NotFound: the document is hidden or gone. :raises Conflict: the version is gone, or can't be opened.
    """
    get_document(principal, facts.review.document_id)
    version = _version(facts)
    markup, blocks = _markup(facts, version)
    resource = f"document:{facts.review.document_id}"
    record_event(principal, "DOCUMENT_DOWNLOAD", resource, version=version.number, review=facts.review.review_id)
    name = name_to_file_by(_("Document with findings"), facts)
    if can_annotate(version):
        made = annotate_original(principal, version, markup, blocks).content
        return Copy(made, CONTENT_TYPES[version.format], f"{name}{PurePath(version.filename).suffix}")
    wants_diff = facts.options.tracked_changes and version.format in _TEXTS
    if wants_diff and (diff := suggestion_diff(markup, PurePath(version.filename).name)):
        return Copy(diff, "text/x-diff; charset=utf-8", f"{name}.diff")
    return Copy(mark_text(markup, blocks), "text/markdown; charset=utf-8", f"{name}.md")


def _markup(facts: ReportFacts, version: DocumentVersion) -> tuple[Markup, Sequence[Block]]:
    content = VersionContent.objects.get(pk=version.pk)
    blocks = blocks_of(content)
    markup = Markup(
        notes=tuple(notes_of(facts, content.markdown, sections_of(content), blocks)),
        markdown=content.markdown,
        written=written_at(facts.review.finished_at),
        list_title=_("Findings whose place could not be shown"),
    )
    return markup, blocks


def read_copy(principal: Principal, facts: ReportFacts, content: bytes) -> AnswerFile | None:
    """Read an annotated copy that came back; None for a file that is none. No permissions are applied.

    What a note was on when the copy was made is read from a new copy of the same version. :raises InvalidInput: it
    can't be read, is of another review, or has notes that were not written by the hub.
    """
    _format, notes = read_notes(principal, content)
    version = _version(facts)
    if not can_annotate(version) or read_returned(facts.review.review_id, notes, {}) is None:
        return None
    markup, blocks = _markup(facts, version)
    _format, before = read_notes(principal, annotate_original(principal, version, markup, blocks).content)
    words = words_by_note(before)
    quotes = quotes_by_note(facts, markup.markdown)
    originals = {key: Quoted(words=words[key], quote=quote) for key, quote in quotes.items() if key in words}
    return read_returned(facts.review.review_id, without_known(notes, before), originals)


def _version(facts: ReportFacts) -> DocumentVersion:
    review = Review.objects.select_related("version__content").get(public_id=facts.review.review_id)
    if review.version is None or not hasattr(review.version, "content"):
        raise Conflict(_("The version that was reviewed is not kept any more."), code="version_gone")
    return review.version
