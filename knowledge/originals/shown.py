"""The services: a page as a picture, and where in the original a part of a document's text stands."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import InvalidInput, NotFound
from knowledge.documents.documents import get_document
from knowledge.documents.reading import readable_version
from knowledge.ingest.content import blocks_of
from knowledge.models import Document, DocumentVersion, PageText, VersionContent
from knowledge.originals.asking import MOST_KEPT_BYTES, Kept, NoSuchPage, ask_original, is_converted, turn_of
from knowledge.originals.marking import MarkedPage, SheetWindow, mark_cells, mark_document, mark_pages
from knowledge.originals.places import page_part
from knowledge.originals.read_pages import mark_reading
from knowledge.parsers.made_files import read_made_file
from knowledge.parsers.process.isolation import as_it_is
from knowledge.types.documents import Block
from knowledge.types.ocr import PageReading

WIDTHS = (800, 1200, 1800)
DRAW_TASK = "knowledge.parsers.pdf.picture:draw_page"


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """A page, counted from 1, as PNG or JPEG."""

    data: bytes
    media_type: str
    width: int
    height: int
    pages_count: int


def has_pictures(version: DocumentVersion) -> bool:
    """Whether pages of a version can be drawn: those of a PDF, and what LibreOffice makes pages of where it is."""
    return version.format == "pdf" or is_converted(version)


def is_shown(version: DocumentVersion) -> bool:
    """Whether a version's original is shown around a place in its text: as pages, or sheets as tables."""
    return version.format == "xlsx" or has_pictures(version)


def draw_page(principal: Principal, document_id: str, *, version: int, page: int, width: int) -> PagePicture:
    """Draw a page of a document that the caller may read, one of `WIDTHS` pixels wide.

    Pictures are kept in this process, and the permission is asked each time. Reading is written to the audit trail.

    :raises NotFound: no such document, version or page. :raises Conflict: the file can't be drawn.
    :raises InvalidInput: another width. :raises TooManyAtOnce, Unavailable: as `ask_original`.
    """
    if width not in WIDTHS:
        raise InvalidInput(_("{field}: expected one of {allowed}."), field="width", allowed=", ".join(map(str, WIDTHS)))
    document = get_document(principal, document_id)
    row = document.versions.select_related("blob").filter(number=version).first()
    if row is None or not has_pictures(row) or (row.format == "pdf" and not 1 <= page <= (row.pages_count or 0)):
        raise _no_page(document, page)
    record_event(principal, "DOCUMENT_READ", f"document:{document_id}", part="page", version=version, page=page)
    key = (row.blob_id, page, width)
    if (kept := _kept.get(key)) is not None:
        return kept
    # Who asks for a picture that is being drawn waits for it instead of drawing it again.
    with turn_of(_turns[hash(key) % len(_turns)]):
        kept = _kept.get(key)
        if kept is None:
            try:
                kept = _picture(*ask_original(principal, row, _load_picture, DRAW_TASK, page=page, width=width))
            except NoSuchPage as error:
                raise _no_page(document, page) from error
            _kept.put(key, kept)
    return kept


def _no_page(document: Document, page: int) -> NotFound:
    return NotFound(_("{path} has no page {page} to show."), code="page_not_found", path=document.path, page=page)


def _picture(data: bytes, facts: dict[str, Any]) -> PagePicture:
    return PagePicture(
        data=data,
        media_type="image/png" if facts["file"].endswith(".png") else "image/jpeg",
        pages_count=facts["pages"],
        width=facts["width"],
        height=facts["height"],
    )


def original_of(
    principal: Principal, document: Document, version: int | None, start: int, end: int
) -> tuple[list[MarkedPage], list[SheetWindow]]:
    """Find where in the original ``[start, end)`` of a version's stored text stands: pages, or parts of sheets.

    Both are empty for formats that are not shown, and where the words are not found. No permissions are applied: call
    it with a document that the caller may read, who is known for their turn. Errors as `draw_page`'s.
    """
    row = readable_version(document) if version is None else document.versions.filter(number=version).first()
    content = VersionContent.objects.filter(pk=row.pk if row else None).first()
    if row is None or content is None:
        raise NotFound(_("{path} has no text of version {version}."), path=document.path, version=version)
    if not is_shown(row):
        return [], []
    blocks = blocks_of(content)
    span = (content.markdown, blocks, start, end)
    ask = partial(ask_original, principal, row, as_it_is)
    if row.format == "xlsx":
        return [], mark_cells(ask, *span)
    if row.format == "pdf" and (read := _marked_reading(row, content, *span)):
        return read, []
    has_pages = any(block.page is not None for block in blocks)
    return (mark_pages if has_pages else mark_document)(ask, *span), []


def _marked_reading(
    row: DocumentVersion, content: VersionContent, markdown: str, blocks: Sequence[Block], start: int, end: int
) -> list[MarkedPage]:
    """Mark a span on a page that OCR read; nothing when its page has a text layer."""
    part = page_part(markdown, blocks, start, end)
    known = next((page for page in content.pages if part is not None and page["number"] == part.page), None)
    if part is None or known is None or not known.get("picture"):
        return []
    stored = PageText.objects.filter(version=row, picture=known["picture"], error="").first()
    if stored is None or stored.reading is None:
        return []
    return mark_reading(part, PageReading.from_json(stored.reading))


def _load_picture(result: dict[str, Any], folder: Path) -> tuple[bytes, dict[str, Any]]:
    """Read the picture that the task drew, while its folder is there."""
    return read_made_file(folder / Path(result["file"]).name), result


_kept: Kept[tuple[str, int, int], PagePicture] = Kept(MOST_KEPT_BYTES, size=lambda picture: len(picture.data))
_turns = [threading.Lock() for _number in range(64)]
