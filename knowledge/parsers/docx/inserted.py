"""Files that a Word document holds whole (altChunk): report tools insert pages of HTML so.

Word turns them into text of its own when it saves; until then they are parts of their own, in their own formats.
"""

from __future__ import annotations

import email
import email.policy

from docx.opc.part import Part

from knowledge.parsers.encoding import decode_text
from knowledge.parsers.errors import ParseError
from knowledge.parsers.html.parser import read_html
from knowledge.parsers.pictures import PictureIntake
from knowledge.parsers.render import MarkdownBuilder
from knowledge.types.documents import BlockKind

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_ARCHIVED = frozenset({"message/rfc822", "multipart/related", "application/x-mimearchive"})


def insert_file(part: Part, builder: MarkdownBuilder, pictures: PictureIntake) -> bool:
    """Append the blocks of an inserted page or text; False when it is of another kind, or can't be read."""
    data: bytes = part.blob
    kind = str(part.content_type).partition(";")[0].strip().lower()
    try:
        if kind in _HTML:
            read_html(data, builder, pictures)
        elif kind in _ARCHIVED:
            return _insert_archived(data, builder, pictures)
        elif kind == "text/plain":
            for paragraph in decode_text(data).text.split("\n\n"):
                builder.add(BlockKind.PARAGRAPH, paragraph)
        else:
            return False
    except ParseError:
        return False
    return True


def _insert_archived(data: bytes, builder: MarkdownBuilder, pictures: PictureIntake) -> bool:
    """Append the page of a web archive (MHTML); what it links to is left alone."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    page = next((found for found in message.walk() if found.get_content_type() == "text/html"), None)
    body = page.get_payload(decode=True) if page is not None else None
    if page is None or not isinstance(body, bytes):
        return False
    read_html(body, builder, pictures, charset=page.get_content_charset() or "")
    return True
