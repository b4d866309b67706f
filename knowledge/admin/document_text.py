"""The stored text of a document, a window at a time, with a marked passage: rendered, or as it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.admin_site.keyset import whole_number
from hub.core.errors import Conflict
from knowledge.admin.passages import is_own_markdown, rendered_blocks
from knowledge.documents.reading import readable_version
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import Document, DocumentVersion, VersionContent
from knowledge.types.documents import Section

WINDOW_CHARS = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWindow:
    """One part of the text: what stands before, in and after the marked passage (which may be empty).

    ``html`` is the part rendered. ``start`` and ``end`` are the passage's offsets in the whole text, ``previous_at``
    and ``next_at`` those where the neighbouring parts begin, None at the ends.
    """

    version: DocumentVersion
    html: SafeString
    start: int
    end: int
    before: str
    passage: str
    after: str
    previous_at: int | None
    next_at: int | None
    sections: tuple[Section, ...]


def read_text(
    principal: Principal, document: Document, versions: Sequence[DocumentVersion], asked: Mapping[str, str]
) -> TextWindow | None:
    """Give the part of the text that was asked for (``version``, ``start``, ``end``); None while there is no text.

    Reading is written to the audit trail.
    """
    version, start, end = (whole_number(asked.get(name), digits=9) for name in ("version", "start", "end"))
    content = _content(document, versions, version)
    if content is None:
        return None
    record_event(principal=principal, action="DOCUMENT_READ", resource=f"document:{document.public_id}")
    start = min(start or 0, len(content.markdown))
    end = min(max(end or start, start), len(content.markdown))
    return _window(content, start, end)


def _content(document: Document, versions: Sequence[DocumentVersion], number: int | None) -> VersionContent | None:
    chosen = next((version for version in versions if version.number == number), None)
    if chosen is None:
        try:
            chosen = readable_version(document)
        except Conflict:  # its text is not there yet, which the state on the page says already
            return None
    return VersionContent.objects.select_related("version").filter(pk=chosen.pk).first()


def _window(content: VersionContent, start: int, end: int) -> TextWindow:
    text = content.markdown
    number = start // WINDOW_CHARS
    number -= _boundary(text, number) > start
    first, following = _boundary(text, number), _boundary(text, number + 1)
    last = max(following, end)
    return TextWindow(
        version=content.version,
        html=rendered_blocks(
            text, blocks_of(content), (first, last), (start, end), is_markdown=is_own_markdown(content.version)
        ),
        start=start,
        end=end,
        before=text[first:start],
        passage=text[start:end],
        after=text[end:last],
        previous_at=_boundary(text, number - 1) if number else None,
        next_at=last if last < len(text) else None,
        sections=sections_of(content),
    )


def _boundary(text: str, number: int) -> int:
    """Tell where a window begins: with a line, if one begins within its length."""
    at = min(number * WINDOW_CHARS, len(text))
    newline = text.find("\n", at, at + WINDOW_CHARS) if at else -1
    return at if newline < 0 else newline + 1


def outline_of(text: TextWindow | None) -> list[tuple[int, Section]]:
    """List the sections with their depth, 0 for the highest level that occurs."""
    if text is None or not text.sections:
        return []
    top = min(section.level for section in text.sections)
    return [(section.level - top, section) for section in text.sections]
