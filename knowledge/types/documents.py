"""What a parser returns: the Markdown of a document and the structure that was found in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from knowledge.types.notices import Notice


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    FIGURE = "figure"
    CAPTION = "caption"
    CODE = "code"
    FRONT_MATTER = "front_matter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One structural unit of a document and where its text stands in the Markdown.

    ``level`` is set on headings only (1 to 6). ``sheet`` and ``cell`` (``"A1:D20"``) are set for spreadsheets. ``rows``
    are the sheet's rows of a table's lines, head first (``"3,5-9,11"``), where they do not follow each other.
    ``merged`` are the cells of a table that reach into the lines below (`knowledge.text.merged_cells`). ``ocr`` is how
    sure the reader was of text that OCR read from a picture, from 0 to 1, and None for any other text.
    """

    kind: BlockKind
    start: int
    end: int
    level: int | None = None
    page: int | None = None
    sheet: str | None = None
    cell: str | None = None
    rows: str | None = None
    merged: str | None = None
    ocr: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuality:
    """What could be read of one page. ``needs_ocr``: an image and no usable text layer, and no usable reading of it.

    ``picture`` names what is to be read of such a page, by the sha256 of what it looks like. ``confidence`` is that of
    a page that OCR read; it is ``uncertain`` when somebody should look at the page beside its text.
    """

    number: int
    characters: int
    needs_ocr: bool = False
    picture: str | None = None
    confidence: float | None = None
    uncertain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFigure:
    """A picture and what the document says of it; ``[start, end)`` is the block of the Markdown that shows it."""

    data: bytes
    media_type: str
    start: int
    end: int
    caption: str = ""
    alt_text: str = ""
    page: int | None = None
    sheet: str | None = None
    cell: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """What a parser returns: the Markdown that every offset refers to, and its structure.

    ``blocks`` are in document order and do not overlap, ``figures`` in the order of their blocks. ``pages_count`` is
    None for formats without pages.
    """

    format: str
    markdown: str
    blocks: tuple[Block, ...]
    figures: tuple[ParsedFigure, ...] = ()
    title: str | None = None
    pages_count: int | None = None
    pages: tuple[PageQuality, ...] = ()
    notices: tuple[Notice, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def pages_needing_ocr(self) -> tuple[int, ...]:
        return tuple(page.number for page in self.pages if page.needs_ocr)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what stands under it.

    ``title`` is the heading's text as written (number included), ``number`` its normalised number (``"3.2"``) if it
    has one. ``path`` holds the titles from the top down to this section. The heading line is ``[start, body_start)``,
    the section's own text ``[body_start, body_end)`` ends at the next heading of any level, and ``end`` is where the
    section ends, subsections included.
    """

    id: str
    title: str
    number: str | None
    level: int
    path: tuple[str, ...]
    start: int
    body_start: int
    body_end: int
    end: int
    parent_id: str | None = None
    page: int | None = None
