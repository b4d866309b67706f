"""A document's outline, and the text of one section, as a reader asks for it: by number, heading or path."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import NotFound
from knowledge.documents.documents import get_document
from knowledge.documents.reading import readable_version
from knowledge.ingest.content import sections_of
from knowledge.models import Document, DocumentVersion
from knowledge.text.folding import fold_compact
from knowledge.types.documents import Section

SUGGESTED = 8
WHOLE = Section(id="", title="", number=None, level=0, path=(), start=0, body_start=0, body_end=0, end=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText:
    """The version of a document that a reader sees, its Markdown and its sections in order."""

    document: Document
    version: DocumentVersion
    markdown: str
    sections: tuple[Section, ...]

    def below(self, section: Section) -> list[Section]:
        """The sections inside of a section, itself first; all of WHOLE."""
        if section is WHOLE:
            return list(self.sections)
        return [one for one in self.sections if section.start <= one.start < section.end]

    def text_of(self, section: Section) -> str:
        """A section's Markdown with its heading and its subsections, as stored; the whole text of WHOLE."""
        return self.markdown if section is WHOLE else self.markdown[section.start : section.end]


def read_text(principal: Principal, document_id: str, *, part: str) -> DocumentText:
    """Read a document; ``part`` is what the audit trail notes.

    Raises NotFound, and Conflict while there is no text yet.
    """
    document = get_document(principal, document_id)
    version = readable_version(document)
    content = version.content
    record_event(principal, "DOCUMENT_READ", f"document:{document_id}", part=part, version=version.number)
    return DocumentText(document=document, version=version, markdown=content.markdown, sections=sections_of(content))


def find_section(text: DocumentText, asked: str) -> Section:
    """Find the section that ``asked`` means: its number, its heading with or without it, or headings joined by >.

    Empty: WHOLE. Of several alike the first. Raises NotFound that names the nearest headings.
    """
    wanted = [part for one in asked.split(">") if (part := fold_compact(one).lstrip("#"))]
    if not wanted:
        return WHOLE
    for matches in (_is_path, _ends_path, _is_number, _has_heading):
        for section in text.sections:
            if matches(section, wanted):
                return section
    raise NotFound(
        _('The document "{title}" has no section "{section}". {sections}'),
        code="section_not_found",
        title=text.document.title[:100],
        section=asked[:100],
        sections=_some(text.sections, asked),
    )


def _some(sections: Sequence[Section], asked: str) -> object:
    titles = list(dict.fromkeys(section.title for section in sections))
    if not titles:
        return _("It has no headings: leave section out.")
    near = difflib.get_close_matches(asked, titles, SUGGESTED, 0.3) or titles[:SUGGESTED]
    return _Some(near, more=len(titles) - len(near))


class _Some:
    """Headings, written in the language that is active when they are shown."""

    def __init__(self, titles: Sequence[str], *, more: int) -> None:
        self._titles = titles
        self._more = more

    def __str__(self) -> str:
        titles = ", ".join(one[:80] for one in self._titles)
        if not self._more:
            return str(_("Sections that there are: {titles}.")).format(titles=titles)
        return str(_("Sections that there are: {titles}, and {more} more.")).format(titles=titles, more=self._more)


def _is_path(section: Section, wanted: list[str]) -> bool:
    return [fold_compact(one) for one in section.path] == wanted


def _ends_path(section: Section, wanted: list[str]) -> bool:
    return [fold_compact(one) for one in section.path][-len(wanted) :] == wanted


def _is_number(section: Section, wanted: list[str]) -> bool:
    return section.number is not None and section.number == wanted[-1].rstrip(".").removeprefix("§")


def _has_heading(section: Section, wanted: list[str]) -> bool:
    """The heading without its number, or a number that is written in another way, such as 第3条."""
    title = fold_compact(section.title)
    bare = title.lstrip("0123456789.-第章節条項()（）")
    return wanted[-1] == bare or title.startswith(wanted[-1])
