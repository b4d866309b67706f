"""What a Word document holds beside its text: notes, comments, tracked changes, files taken in whole (altChunk)."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Callable

from docx.opc.part import Part
from docx.parts.document import DocumentPart
from lxml import etree

from knowledge.parsers.docx.text import is_hidden, qn
from knowledge.parsers.docx.trace import Trace
from knowledge.parsers.encoding import decode_text
from knowledge.parsers.errors import ParseError, corrupted, counted
from knowledge.parsers.html.parser import read_html
from knowledge.parsers.limits import CellCount
from knowledge.parsers.ooxml.package import Element, parse_xml
from knowledge.parsers.pictures import PictureIntake
from knowledge.parsers.render import MarkdownBuilder, single_line
from knowledge.types.documents import BlockKind
from knowledge.types.notices import Notice

_CHANGES = (qn("w:ins"), qn("w:del"), qn("w:moveFrom"), qn("w:moveTo"))


def note_texts(part: DocumentPart, text_of: Callable[[Element], str], trace: Trace) -> dict[str, str]:
    """Map the marks of footnotes, and those of endnotes, which begin with ``e``, to their texts."""
    return _texts(part, "footnotes", "", text_of, trace) | _texts(part, "endnotes", "e", text_of, trace)


def _texts(part: DocumentPart, kind: str, lead: str, text_of: Callable[[Element], str], trace: Trace) -> dict[str, str]:
    """Map marks to texts; separators have no text and are left out."""
    root = _related(part, kind)
    if root is None:
        return {}
    trace.read_part(kind, root)
    notes = ((note.get(qn("w:id")), single_line(text_of(note))) for note in root)
    return {lead + number: text for number, text in notes if number and text}


def _related(part: DocumentPart, kind: str) -> Element | None:
    for relation in part.rels.values():
        if relation.reltype.rpartition("/")[2] == kind and not relation.is_external:
            try:
                return parse_xml(relation.target_part.blob)
            except etree.XMLSyntaxError as error:
                raise corrupted("docx", kind) from error
    return None


def left_out_notices(part: DocumentPart, body: Element, *, inserted_read: int) -> tuple[Notice, ...]:
    """Count what is kept out of the text: comments, tracked changes, hidden text, files inserted whole.

    ``inserted_read`` of the inserted files are part of the text.
    """
    comments = _related(part, "comments")
    return (
        *counted(
            sum(1 for _ in comments.iterchildren(qn("w:comment"))) if comments is not None else 0, "comments_left_out"
        ),
        *counted(sum(1 for _ in body.iter(qn("w:altChunk"))) - inserted_read, "inserted_files_left_out"),
        *counted(
            sum(is_hidden(run) and next(run.iter(qn("w:t")), None) is not None for run in body.iter(qn("w:r"))),
            "hidden_text",
        ),
        *counted(sum(1 for _ in body.iter(*_CHANGES)), "tracked_changes"),
    )


_HTML = frozenset({"text/html", "application/xhtml+xml"})
_ARCHIVED = frozenset({"message/rfc822", "multipart/related", "application/x-mimearchive"})


def insert_file(part: Part, builder: MarkdownBuilder, pictures: PictureIntake, cells: CellCount) -> bool:
    """Append the blocks of an inserted page or text; False when it is of another kind, or can't be read."""
    data: bytes = part.blob
    kind = str(part.content_type).partition(";")[0].strip().lower()
    try:
        if kind in _HTML:
            read_html(data, builder, pictures, cells)
        elif kind in _ARCHIVED:
            return _insert_archived(data, builder, pictures, cells)
        elif kind == "text/plain":
            for paragraph in decode_text(data).text.split("\n\n"):
                builder.add(BlockKind.PARAGRAPH, paragraph)
        else:
            return False
    except ParseError:
        return False
    return True


def _insert_archived(data: bytes, builder: MarkdownBuilder, pictures: PictureIntake, cells: CellCount) -> bool:
    """Append the page of a web archive (MHTML); what it links to is left alone."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    page = next((found for found in message.walk() if found.get_content_type() == "text/html"), None)
    body = page.get_payload(decode=True) if page is not None else None
    if page is None or not isinstance(body, bytes):
        return False
    read_html(body, builder, pictures, cells, charset=page.get_content_charset() or "")
    return True
